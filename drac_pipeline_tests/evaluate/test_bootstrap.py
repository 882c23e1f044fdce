"""Paired intervals."""

from __future__ import annotations

import numpy as np
import pytest

from drac_pipeline.evaluate.bootstrap import Interval, intervals, paired


def test_the_same_seed_gives_the_same_interval():
    values = np.random.default_rng(1).random((40, 3))
    assert intervals(values) == intervals(values)
    assert intervals(values, seed=2) != intervals(values)


def test_a_difference_on_every_question_is_sure_and_none_is_not():
    theirs = np.random.default_rng(1).random((50, 1))
    [same] = paired(theirs.tolist(), theirs.tolist())
    assert (same, same.sure) == (Interval(0.0, 0.0, 0.0), False)
    [more] = paired((theirs + 0.1).tolist(), theirs.tolist())
    assert more.sure
    assert (more.low, more.high) == (pytest.approx(0.1), pytest.approx(0.1))


def test_pairing_sees_what_two_intervals_do_not():
    theirs = np.linspace(0, 1, 60)[:, None]
    ours = theirs + 0.02
    [a], [b] = intervals(ours), intervals(theirs)
    assert a.low < b.high
    assert paired(ours.tolist(), theirs.tolist())[0].low > 0


def test_the_interval_is_that_of_the_mean():
    """For many questions it is the normal one: mean ± 1.96 standard errors."""
    values = np.random.default_rng(3).normal(0.5, 0.2, (400, 1))
    [found] = intervals(values)
    error = 1.96 * values.std() / np.sqrt(len(values))
    assert found.mean == pytest.approx(values.mean())
    assert found.low == pytest.approx(values.mean() - error, abs=error * 0.08)
    assert found.high == pytest.approx(values.mean() + error, abs=error * 0.08)


def test_nothing_to_draw_from_and_other_questions():
    assert intervals(np.zeros((0, 2))) == [Interval(0.0, 0.0, 0.0)] * 2
    with pytest.raises(ValueError, match="not paired"):
        paired([[1.0]], [[1.0], [0.0]])
