"""Checks of the package: its stubs, docstrings and version."""

import ast
import doctest
import importlib.metadata
import inspect
import pathlib

import gather
from checking import same_text


def functions():
    """The functions of the module, and the methods of its classes, by their names in the stub."""
    for name in gather.__all__:
        public = getattr(gather, name)
        if inspect.isclass(public):
            methods = (member for member in vars(public) if not member.startswith("_"))
            yield from ((f"{name}.{member}", getattr(public, member)) for member in methods)
        elif callable(public):
            yield name, public


def tree():
    """The stub."""
    return ast.parse((pathlib.Path(gather.__file__).parent / "__init__.pyi").read_text()).body


def stub():
    """The stub's functions by their names, and its classes' methods."""
    for node in tree():
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{method.name}", method) for method in node.body)


def declared(node):
    """The parameters of a function in the stub: name, kind, default."""
    given = node.args
    positional = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(positional) - len(given.defaults)) + given.defaults
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    for argument, default in zip(positional, defaults):
        yield argument.arg, kind, inspect.Parameter.empty if default is None else ast.literal_eval(default)
    for argument, default in zip(given.kwonlyargs, given.kw_defaults):
        default = inspect.Parameter.empty if default is None else ast.literal_eval(default)
        yield argument.arg, inspect.Parameter.KEYWORD_ONLY, default


def kind_of(parameter):
    """The kind of a parameter; a method of an extension has its `self` by position only."""
    by_name = parameter.kind == inspect.Parameter.KEYWORD_ONLY
    return parameter.kind if by_name else inspect.Parameter.POSITIONAL_OR_KEYWORD


def stubs():
    """Every function is in the stub with its parameters and their defaults, and the stub has no others."""
    declarations, public = dict(stub()), dict(functions())
    same_text(sorted(declarations), sorted(public), "names in the stub")
    exported = next(node for node in tree() if ast.unparse(node).startswith("__all__ ="))
    same_text(ast.literal_eval(exported.value), sorted(gather.__all__), "__all__")
    for name, function in public.items():
        if not callable(function):  # an attribute
            continue
        own = [(p.name, kind_of(p), p.default) for p in inspect.signature(function).parameters.values()]
        own = [parameter for parameter in own if parameter[0] != "self"]
        given = [parameter for parameter in declared(declarations[name]) if parameter[0] != "self"]
        same_text(given, own, name)


def examples():
    """Every function has an example in its docstring, and the examples of the package's README run."""
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    for name, function in functions():
        if "." in name:
            continue
        example = parser.get_doctest(inspect.getdoc(function), {}, name, None, None)
        assert example.examples, f"{name} has no example"
        same_text(runner.run(example).failed, 0, name)
    readme = pathlib.Path(__file__).with_name("README.md")
    example = parser.get_doctest(readme.read_text(), {}, readme.name, None, None)
    same_text((len(example.examples) > 10, runner.run(example).failed), (True, 0), readme.name)


def metadata():
    """The version is that of the distribution, where one is installed; the types are marked as complete."""
    folder = pathlib.Path(gather.__file__).parent
    assert (folder / "py.typed").exists(), "py.typed is missing"
    try:
        same_text(gather.__version__, importlib.metadata.version("gather-python"), "version")
    except importlib.metadata.PackageNotFoundError:
        pass


CHECKS = (stubs, examples, metadata)
