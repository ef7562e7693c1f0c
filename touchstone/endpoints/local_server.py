"""Runs llama.cpp's HTTP server in a process of its own. Started as a script by ``LocalServer``.

Imports nothing of the package, so that it starts fast and needs no import path. The first line on
standard input is the configuration as JSON; the first line on standard output is the address, or
an error, as JSON. End of input means that the parent is gone, however it went: the process ends
(llama.cpp holds Python's lock while it loads, so at that time only once the model is there).
"""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import Any


def _server(settings: dict[str, Any]) -> Any:
    """Load the model and return the running server (xllamacpp binds a free port by itself)."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["weights"]
    params.model_alias = {settings["alias"]}
    params.api_keys = [settings["key"]]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = settings["parallel"]
    # llama.cpp divides the window among its slots.
    params.n_ctx = settings["context"] * settings["parallel"]
    params.cpuparams.n_threads = settings["threads"]
    params.cpuparams_batch.n_threads = settings["threads"]
    # The processor only: results then depend on the weights, not on the graphics driver.
    params.n_gpu_layers = 0
    params.cache_ram_mib = 512
    params.offline = True
    params.ui = False
    params.verbosity = 2
    return xllamacpp.Server(params)


def _end_with_parent() -> None:
    sys.stdin.read()
    os._exit(0)


def main() -> int:
    """Serve until standard input ends. Returns 1 when the server can't be started."""
    settings = json.loads(sys.stdin.readline())
    answer = os.fdopen(os.dup(1), "w", encoding="ascii")
    # What llama.cpp prints goes where its log goes.
    os.dup2(2, 1)
    watch = threading.Thread(target=_end_with_parent, daemon=True)
    watch.start()
    try:
        server = _server(settings)
    except Exception as error:
        answer.write(json.dumps({"error": f"{type(error).__name__}: {error}"}) + "\n")
        answer.close()
        return 1
    answer.write(json.dumps({"address": server.listening_address}) + "\n")
    answer.close()
    watch.join()
    return 0


if __name__ == "__main__":
    sys.exit(main())
