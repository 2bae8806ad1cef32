//! A graph in OpenVINO's format: XML, and the bytes of the constants.

/// A tensor between two layers.
#[derive(Clone, Debug)]
pub(super) struct Port {
    /// The type's name in attributes.
    pub(super) element: &'static str,
    shape: Vec<usize>,
    /// The layer whose output it is, and the number of the output.
    from: (usize, usize),
}

impl Port {
    pub(super) fn new(element: &'static str, shape: &[usize]) -> Self {
        Port { element, shape: shape.to_vec(), from: (0, 0) }
    }

    fn xml(&self, number: usize) -> String {
        let dims: String = self.shape.iter().map(|dim| format!("<dim>{dim}</dim>")).collect();
        let precision = match self.element {
            "f32" => "FP32".into(),
            "f16" => "FP16".into(),
            integer => integer.to_uppercase(),
        };
        format!("<port id=\"{number}\" precision=\"{precision}\">{dims}</port>")
    }

    fn dims(&self) -> String {
        self.shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
    }
}

/// A graph that grows layer by layer.
#[derive(Debug, Default)]
pub(super) struct Ir {
    layers: String,
    edges: String,
    constants: Vec<u8>,
    count: usize,
}

impl Ir {
    /// An input of the graph.
    pub(super) fn parameter(&mut self, port: Port) -> Port {
        let data = format!("shape=\"{}\" element_type=\"{}\"", port.dims(), port.element);
        self.layer("Parameter", "opset1", &data, &[], port)
    }

    /// A constant.
    pub(super) fn constant(&mut self, shape: &[usize], numbers: &[i64]) -> Port {
        let port = Port::new("i64", shape);
        let (offset, size) = (self.constants.len(), size_of_val(numbers));
        let data = format!("element_type=\"i64\" shape=\"{}\" offset=\"{offset}\" size=\"{size}\"", port.dims());
        self.constants.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        self.layer("Const", "opset1", &data, &[], port)
    }

    /// A node: the name of its operator, the operator set, and one attribute.
    pub(super) fn operator(
        &mut self,
        (name, set): (&str, &str),
        attribute: Option<(&str, usize)>,
        inputs: &[Port],
        output: Port,
    ) -> Port {
        let data = attribute.map_or_else(String::new, |(key, value)| format!("{key}=\"{value}\""));
        self.layer(name, set, &data, inputs, output)
    }

    /// The XML and the bytes of the constants, with `output` as the graph's output.
    pub(super) fn finish(mut self, output: &Port) -> (String, Vec<u8>) {
        self.open("Result", "opset1", "", std::slice::from_ref(output));
        self.layers += "</layer>";
        let Ir { layers, edges, constants, .. } = self;
        let xml = format!(
            "<?xml version=\"1.0\"?><net name=\"one\" version=\"11\"><layers>{layers}</layers>\
             <edges>{edges}</edges></net>"
        );
        (xml, constants)
    }

    fn layer(&mut self, kind: &str, set: &str, data: &str, inputs: &[Port], mut output: Port) -> Port {
        output.from = (self.open(kind, set, data, inputs), inputs.len());
        self.layers += &format!("<output>{}</output></layer>", output.xml(inputs.len()));
        output
    }

    /// All of a layer except its output, and the edges to its inputs.
    fn open(&mut self, kind: &str, set: &str, data: &str, inputs: &[Port]) -> usize {
        let id = self.count;
        self.count += 1;
        self.layers += &format!("<layer id=\"{id}\" name=\"{kind}{id}\" type=\"{kind}\" version=\"{set}\">");
        if !data.is_empty() {
            self.layers += &format!("<data {data}/>");
        }
        if !inputs.is_empty() {
            let ports: String = inputs.iter().enumerate().map(|(number, port)| port.xml(number)).collect();
            self.layers += &format!("<input>{ports}</input>");
        }
        for (number, Port { from: (layer, port), .. }) in inputs.iter().enumerate() {
            self.edges +=
                &format!("<edge from-layer=\"{layer}\" from-port=\"{port}\" to-layer=\"{id}\" to-port=\"{number}\"/>");
        }
        id
    }
}
