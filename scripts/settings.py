# SPDX-License-Identifier: Apache-2.0
"""KEY=value settings of a verb, as they are written after `make <verb>`: checked, never guessed."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from scripts.blocks import Block, Blocks
from scripts.common import SIMULATORS, UserError, one_of
from scripts.run import OptionValue, Request

SIM_KEYS = ("BLOCK", "SIM", "TEST", "SEED", "PARAMS", "WAVES", "OPTIONS")


def pairs(arguments: Iterable[str]) -> dict[str, str]:
    """Split KEY=value words; UserError for a word that is not one."""
    found: dict[str, str] = {}
    for word in arguments:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise UserError(f"'{word}' is not a setting; settings are written KEY=value")
        found[key] = value
    return found


def only(given: dict[str, str], known: Iterable[str], verb: str) -> None:
    """UserError when a setting is given that the verb does not have."""
    for key in given:
        if key not in tuple(known):
            raise one_of("setting", key, known, f"make {verb}")


def seed_of(text: str) -> int:
    """A seed: a whole number from 0 to 2^32-1."""
    try:
        seed = int(text, 0)
    except ValueError:
        seed = -1
    if not 0 <= seed < 1 << 32:
        raise UserError(f"SEED={text}: wants a whole number from 0 to 4294967295")
    return seed


def whole_number(key: str, text: str) -> int:
    """A number from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise UserError(f"{key}={text}: wants a whole number from 1")
    return int(text)


def flag(key: str, text: str) -> bool:
    """A switch: 0 or 1."""
    if text not in ("", "0", "1"):
        raise UserError(f"{key}={text}: wants 0 or 1")
    return text == "1"


def _options(block: Block, name: str, given: dict[str, str]) -> dict[str, OptionValue]:
    """OPTIONS="a=1 b=2" together with the shorthand A=1."""
    words = pairs(shlex.split(given.get("OPTIONS", "")))
    for key, text in given.items():
        if key in SIM_KEYS:
            continue
        if key.lower() not in block.options:
            known = (*SIM_KEYS, *(o.upper() for o in block.options))
            raise one_of("setting", key, known, f"make sim BLOCK={name}")
        words[key.lower()] = text
    values: dict[str, OptionValue] = {}
    for option, text in words.items():
        if option not in block.options:
            raise one_of("option", option, block.options, f"OPTIONS of block {name}")
        values[option] = block.options[option].parse(option, text)
    return values


def sim_request(spec: Blocks, given: dict[str, str]) -> Request:
    """The run that the settings of `make sim` ask for; UserError for anything unknown."""
    name = given.get("BLOCK") or spec.default_block
    block = spec.block(name)
    sim = given.get("SIM") or "verilator"
    if sim not in SIMULATORS:
        raise one_of("simulator", sim, SIMULATORS, "SIM")
    test_name = given.get("TEST") or block.default_test
    if test_name not in block.tests:
        raise one_of("test", test_name, block.tests, f"TEST of block {name}")
    test = block.tests[test_name]
    if sim not in test.sims:
        raise UserError(f"SIM={sim}: test '{test_name}' of block {name} runs on {', '.join(test.sims)} only")
    params = given.get("PARAMS") or test.params[0]
    if params not in block.params:
        raise one_of("parameter set", params, block.params, f"PARAMS of block {name}")
    if params not in test.params:
        raise UserError(
            f"PARAMS={params}: test '{test_name}' of block {name} runs with"
            f" {', '.join(test.params)} only (blocks.{name}.tests.{test_name}.params)"
        )
    seed = seed_of(given["SEED"]) if given.get("SEED") else spec.seed
    waves = flag("WAVES", given.get("WAVES", "0"))
    return Request(name, sim, params, test_name, seed, _options(block, name, given), waves)
