"""The runtime of graphs: ONNX Runtime, silent and on one thread.

A graph may name other files that hold its weights, and the runtime looks for them in the working
directory. Graphs of tres are whole, and one of a stranger must not read what lies there: so the
runtime is told to look where no file can be.
"""

from __future__ import annotations

import os
from typing import Any

FOLDER_OF_WEIGHTS = "session.model_external_initializers_file_folder_path"


def one_thread_session(graph: bytes) -> Any:
    """A session for a graph; the runtime's exceptions have no common base."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.add_session_config_entry(FOLDER_OF_WEIGHTS, os.devnull)
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
