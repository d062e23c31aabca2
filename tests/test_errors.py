"""Errors: one line each, harmless in a terminal, with the promised exit codes."""

import pytest

from tres import errors


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (errors.TresError, 1),
        (errors.ConfigError, 2),
        (errors.ArchiveError, 2),
        (errors.ModelError, 2),
        (errors.TrainingError, 2),
        (errors.VectorsError, 2),
        (errors.RunError, 2),
        (errors.SeedError, 3),
        (errors.TeacherError, 3),
    ],
)
def test_every_error_has_its_exit_code_and_is_a_tres_error(kind, code):
    error = kind("what is wrong; what to do")

    assert isinstance(error, errors.TresError)
    assert error.exit_code == code
    assert str(error) == error.message == "what is wrong; what to do"


def test_a_message_is_one_line():
    assert errors.TresError("first\n  second\r\nthird").message == "first second third"


def test_a_message_has_an_end():
    message = errors.TresError(f"file: {'x' * 5_000_000}; what to do").message
    assert len(message) < 5_000
    assert message.startswith("file: xxx")
    assert message.endswith("xxx; what to do")


def test_control_characters_never_reach_the_terminal():
    assert errors.TresError("red \x1b[31m, \u202eleft").message == r"red \x1b[31m, \u202eleft"
