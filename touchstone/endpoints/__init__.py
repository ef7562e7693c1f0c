"""Clients for what answers: an OpenAI-compatible server, the embedded model, a scripted fake."""

from __future__ import annotations

from touchstone.endpoints.local import LocalServer, open_local
from touchstone.endpoints.openai_compat import OpenAICompatEndpoint, RetryPolicy
from touchstone.endpoints.protocol import (
    ChatReply,
    ChatRequest,
    Endpoint,
    EndpointConfig,
    is_loopback,
    public_url,
)
from touchstone.endpoints.scripted import ScriptedEndpoint
from touchstone.endpoints.unreachable import UnreachableEndpoint
from touchstone.endpoints.weights import LOCAL_MODELS, LocalModel

__all__ = [
    "LOCAL_MODELS",
    "ChatReply",
    "ChatRequest",
    "Endpoint",
    "EndpointConfig",
    "LocalModel",
    "LocalServer",
    "OpenAICompatEndpoint",
    "RetryPolicy",
    "ScriptedEndpoint",
    "UnreachableEndpoint",
    "is_loopback",
    "open_local",
    "public_url",
]
