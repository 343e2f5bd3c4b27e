"""One protocol of progress, whoever listens."""

import signal
import threading

import pytest

from crosslens.cli._display import Log
from crosslens.progress import SILENT, Progress, Update, callback, held_interrupts, listening, terminable


def test_a_function_hears_updates_and_lines():
    heard = []
    progress = callback(heard.append)
    progress.report("pretraining", 3, 9, "steps", note="loss 2.0")
    progress.say("perplexity en 12.3")
    assert heard == [
        Update("pretraining", 3, 9, "steps", "loss 2.0"),
        Update("pretraining", 3, 9, "steps", "loss 2.0", line="perplexity en 12.3"),
    ]
    assert list(map(str, heard)) == ["pretraining: 3 of 9 steps, loss 2.0", "perplexity en 12.3"]


def test_whatever_listens_is_a_progress():
    assert listening(None) is SILENT
    assert listening(SILENT) is SILENT
    log = Log(print)
    assert listening(log) is log
    assert isinstance(listening(print), Progress)
    SILENT.report("nobody", 0)
    SILENT.say("hears this")


@pytest.mark.parametrize(
    ("update", "words"),
    [
        (Update("planning"), "planning"),
        (Update("reading", 0, 4, "corpora", "fr"), "reading: 0 of 4 corpora, fr"),
        (Update("reading", 0, 1, "corpora", "fr"), "reading: 0 of 1 corpus, fr"),
        (Update("comparing", 1, None, "pairs"), "comparing: 1 pair"),
        (Update("comparing", 1, 3, "pairs"), "comparing: 1 of 3 pairs"),
        (Update("downloading", 5 << 20, 600 << 20, "bytes"), "downloading: 5 of 600 MB"),
        (Update("downloading", 5 << 20, None, "bytes"), "downloading: 5 MB"),
        (Update("downloading", 3 << 10, 70 << 10, "bytes"), "downloading: 3 of 70 kB"),
        (Update("pretraining", 1200, 20000, "steps"), "pretraining: 1,200 of 20,000 steps"),
    ],
)
def test_updates_are_readable(update, words):
    assert str(update) == words


def hold(numbers, done):
    with terminable(), held_interrupts():
        for number in numbers:
            signal.raise_signal(number)
            done.append("went on")


@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("more", [(), (signal.SIGINT,), (signal.SIGTERM,)])
def test_an_interrupt_comes_at_the_end_and_a_second_one_does_not_wait(first, more, interruptible):
    before, done = signal.getsignal(signal.SIGTERM), []
    with pytest.raises(KeyboardInterrupt):
        hold((first, *more), done)
    assert len(done) == 1
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is before


def test_handlers_of_others_stay_and_so_do_other_threads(interruptible):
    handlers, terminated = [], []

    def look():
        with held_interrupts() as raise_interrupt:
            raise_interrupt()
            handlers.append(signal.getsignal(signal.SIGINT))
            terminated.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        look()
    finally:
        signal.signal(signal.SIGINT, before)
    assert handlers == [signal.default_int_handler, signal.SIG_IGN]
    assert terminated == [signal.getsignal(signal.SIGTERM)] * 2


def test_another_thread_cannot_make_a_program_terminable():
    handlers = []

    def look():
        with terminable():
            handlers.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert handlers == [signal.getsignal(signal.SIGTERM)]
