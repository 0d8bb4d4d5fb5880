"""Providers that need no table: their address, the variable of their key, what they do not take.

`without` is what a provider is documented to refuse or to pass over, whatever the model; what
depends on the model is learned from its first refusal.
"""

from __future__ import annotations

from typing import Any

NO_SCHEMA = ("seed", "json_schema")
NO_JSON = ("seed", "json_schema", "json_object")
PRESETS: dict[str, dict[str, Any]] = {
    "openai": {"base_url": "https://api.openai.com/v1", "key_variable": "OPENAI_API_KEY"},
    # Its address is each customer's own. JSON schemas are taken since 2024-08-01-preview.
    "azure": {"key_variable": "AZURE_OPENAI_API_KEY", "api_version": "2024-10-21"},
    "anthropic": {
        "base_url": "https://api.anthropic.com/v1",
        "key_variable": "ANTHROPIC_API_KEY",
        "without": NO_JSON,
    },
    "gemini": {
        "base_url": "https://generativelanguage.googleapis.com/v1beta/openai",
        "key_variable": "GEMINI_API_KEY",
        "without": ("seed",),
    },
    "mistral": {
        "base_url": "https://api.mistral.ai/v1",
        "key_variable": "MISTRAL_API_KEY",
        "without": ("seed",),
    },
    "deepseek": {
        "base_url": "https://api.deepseek.com/v1",
        "key_variable": "DEEPSEEK_API_KEY",
        "without": NO_SCHEMA,
    },
    "openrouter": {
        "base_url": "https://openrouter.ai/api/v1",
        "key_variable": "OPENROUTER_API_KEY",
    },
    "ollama": {"base_url": "http://localhost:11434/v1"},
    "vllm": {"base_url": "http://localhost:8000/v1"},
    "lmstudio": {"base_url": "http://localhost:1234/v1", "without": ("json_object",)},
    # Its token holds for half an hour, and its certificate is of an authority of its own (ca_file).
    "gigachat": {
        "base_url": "https://gigachat.devices.sberbank.ru/api/v1",
        "key_variable": "GIGACHAT_ACCESS_TOKEN",
        "without": NO_JSON,
    },
    # The model is written gpt://FOLDER/yandexgpt/latest.
    "yandexgpt": {
        "base_url": "https://llm.api.cloud.yandex.net/v1",
        "key_variable": "YANDEX_API_KEY",
        "without": ("seed",),
    },
}
