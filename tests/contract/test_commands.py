"""Every command says what it does and what every option of it means."""

from __future__ import annotations

import pytest
import typer.main

from argrank import cli


def check_help(name: str) -> None:
    """A command has a help text, and so has every option and argument."""
    command = typer.main.get_command(cli._app())
    for word in name.split():
        command = command.commands[word]
    assert command.help, f"{name}: no help"
    silent = [option.name for option in command.params if not (option.help or "").strip()]
    assert silent == [], f"{name}: options without a help text"


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_option_has_a_help_text(name):
    check_help(name)


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_can_be_quiet_and_limited(name):
    command = typer.main.get_command(cli._app())
    for word in name.split():
        command = command.commands[word]
    spelled = {word for option in command.params for word in option.opts}
    assert {"--quiet", "-q", "--max-memory"} <= spelled
