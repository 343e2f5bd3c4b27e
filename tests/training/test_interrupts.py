"""Ctrl-C in a training: the step is finished, the state is saved, and the same call resumes to the same bits."""

import signal
import threading

import pytest

from crosslens.training.interrupts import held_interrupts
from toy_trainings import assert_equal, run


def test_ctrl_c_in_the_middle_of_a_step_saves_the_state(tmp_path, encoder, toy):
    whole = run(encoder, "pos", toy)
    state, steps = tmp_path / "run.state", []

    def press(step, loss):
        steps.append(step)
        if step == 2:
            signal.raise_signal(signal.SIGINT)
            steps.append("the step goes on")

    with pytest.raises(KeyboardInterrupt):
        run(encoder, "pos", toy, state=state, stepped=press)
    assert steps == [1, 2, "the step goes on"]
    assert state.exists()
    again = run(encoder, "pos", toy, state=state, stepped=lambda step, loss: steps.append(step))
    assert steps[3:] == [3, 4, 5, 6]
    assert_equal(whole, again)


def hold(presses, done):
    with held_interrupts():
        for _ in range(presses):
            signal.raise_signal(signal.SIGINT)
            done.append("went on")


@pytest.mark.parametrize(("presses", "went_on"), [(1, 1), (2, 1)])
def test_ctrl_c_comes_at_the_end_and_a_second_one_does_not_wait(presses, went_on):
    done = []
    with pytest.raises(KeyboardInterrupt):
        hold(presses, done)
    assert len(done) == went_on
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_handlers_of_others_stay_and_so_do_other_threads(monkeypatch):
    handlers = []

    def look():
        with held_interrupts() as raise_interrupt:
            raise_interrupt()
            handlers.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        look()
    finally:
        signal.signal(signal.SIGINT, before)
    assert handlers == [signal.default_int_handler, signal.SIG_IGN]
