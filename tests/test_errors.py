import numpy as np
import pytest

from crosslens.errors import RequestError, require_integer


@pytest.mark.parametrize("value", [0, 10, "1", 1.0, True, np.True_, np.float64(1), None, [1]], ids=repr)
def test_what_is_no_integer_within_the_bounds_is_refused(value):
    with pytest.raises(RequestError, match=r"rounds=.* is not an integer from 1 to 9"):
        require_integer(value, "rounds", least=1, most=9)


@pytest.mark.parametrize("value", [1, np.int64(1), np.uint8(1)], ids=repr)
def test_an_integer_of_any_type_becomes_one_of_python(value):
    number = require_integer(value, "rounds", least=1)
    assert (number, type(number)) == (1, int)
