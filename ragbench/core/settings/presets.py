"""Endpoints that many people have, as tables [providers.NAME] that need not be written: address, key, what is refused.

Any key of them can be said otherwise in the project's own table of that name, or in one whose `preset` names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PRESETS: Mapping[str, Mapping[str, Any]] = {
    "openai": {"base_url": "https://api.openai.com/v1", "key_variable": "OPENAI_API_KEY"},
    # its address is each customer's own, and so is the version of the deployments' protocol that is asked for
    "azure": {"key_variable": "AZURE_OPENAI_API_KEY", "api_version": "2024-10-21"},
    # takes response_format and seed, and ignores both; a temperature above 1 is cut to 1 (its page "OpenAI SDK
    # compatibility")
    "anthropic": {
        "base_url": "https://api.anthropic.com/v1",
        "key_variable": "ANTHROPIC_API_KEY",
        "replies": "tool",
        "without": ("seed",),
    },
    "gemini": {
        "base_url": "https://generativelanguage.googleapis.com/v1beta/openai",
        "key_variable": "GEMINI_API_KEY",
        "without": ("seed",),
    },
    # answers 422 "extra_forbidden" to any key that it does not know, and its own is called random_seed
    "mistral": {"base_url": "https://api.mistral.ai/v1", "key_variable": "MISTRAL_API_KEY", "without": ("seed",)},
    # "This response_format type is unavailable now" to a JSON schema
    "deepseek": {
        "base_url": "https://api.deepseek.com/v1",
        "key_variable": "DEEPSEEK_API_KEY",
        "replies": "json_object",
        "without": ("seed",),
    },
    "openrouter": {"base_url": "https://openrouter.ai/api/v1", "key_variable": "OPENROUTER_API_KEY"},
    "ollama": {"base_url": "http://localhost:11434/v1"},
    "vllm": {"base_url": "http://localhost:8000/v1"},
    "lmstudio": {"base_url": "http://localhost:1234/v1"},
    # its token is of half an hour, and its certificate of an authority that is not among the usual ones (`ca_file`)
    "gigachat": {
        "base_url": "https://gigachat.devices.sberbank.ru/api/v1",
        "key_variable": "GIGACHAT_ACCESS_TOKEN",
        "replies": "text",
        "without": ("seed",),
    },
    "yandexgpt": {
        "base_url": "https://llm.api.cloud.yandex.net/v1",
        "key_variable": "YANDEX_API_KEY",
        "without": ("seed",),
    },
}


def filled_in(tables: Mapping[str, Any]) -> dict[str, Any]:
    """The tables [providers.NAME], each with what the preset says that it names, or else has the name of, where it does
    not say so itself; and the presets that need no table."""
    whole: dict[str, Any] = {name: preset for name, preset in PRESETS.items() if "base_url" in preset}
    for name, table in tables.items():
        is_table = isinstance(table, dict)
        whole[name] = {**PRESETS.get(str(table.get("preset") or name), {}), **table} if is_table else table
    return whole
