"""Patterns that are copied, pickled, and used by other threads and processes; run it by Tools/wheel --test."""

import concurrent.futures
import copy
import gc
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path

import dask
import numpy
import pytest

import temblor_haptics as haptics
from temblor_haptics import _core, _haptics

SECONDS = 60
"""The deadline of every wait, far beyond the time that any needs."""
METHODS = ["fork", "spawn", "forkserver"]


def taps(*times, name="taps.ahap"):
    return haptics.Pattern(*(haptics.Transient(time) for time in times), name=name)


def described(pattern):
    """What a process knows of a pattern."""
    return pattern.name, pattern.content, pattern.text, pattern.format, pattern.duration


def failed(pattern):
    """The error of a profile that does not exist, raised in another process."""
    haptics.render(pattern, profile="bass")


def unusable(content):
    """A pattern that another version of the library has read, and this one cannot."""
    return _haptics._restored(haptics.Pattern, "broken.ahap", content)


def exit_status(child):
    """The exit status of a forked child, which is ended if it does not answer."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return "no answer"


def in_child(body):
    """The exit status of a forked child that does something; 0 where it returns true."""
    child = os.fork()
    if child == 0:
        status = 3
        try:
            status = 0 if body() else 1
        except haptics.HapticError:
            status = 2
        finally:
            os._exit(status)
    return exit_status(child)


@pytest.mark.parametrize("duplicate", [
    copy.copy, copy.deepcopy, lambda pattern: pickle.loads(pickle.dumps(pattern)),
    lambda pattern: pickle.loads(pickle.dumps(pattern, protocol=0))])
def test_a_duplicate_is_the_same_pattern_after_the_original_ended(duplicate):
    original = haptics.Pattern(haptics.Continuous(0, 0.5), name="hum.ahap")
    expected = haptics.render(original)
    facts = described(original)
    kept = duplicate(original)
    del original
    gc.collect()
    others = [taps(0, 0.1 * number) for number in range(1, 5)]
    for other in others:
        haptics.render(other)
    assert described(kept) == facts
    assert numpy.array_equal(haptics.render(kept), expected)
    assert kept.text != others[0].text


def test_duplicates_inside_containers_and_of_subclasses():
    class Named(haptics.Pattern):
        pass

    pattern = Named(haptics.Transient(0), name="named.ahap")
    assert type(copy.copy(pattern)) is Named
    kept = copy.deepcopy({"patterns": [pattern, pattern]})["patterns"]
    assert kept[0] is kept[1] and kept[0] is not pattern
    kept[0].name = "other.ahap"
    assert pattern.name == "named.ahap"


def test_a_name_that_changes_is_the_one_in_messages():
    pattern = haptics.Pattern.parse('{"Version": 1, "Pattern": [{"Event": {"Time": 0, "EventType": '
                                    '"HapticTransient", "EventParameters": [{"ParameterID": "HapticIntensity", '
                                    '"ParameterValue": 2}]}}]}', "old.ahap")
    assert {finding.file for finding in haptics.check(pattern)} == {"old.ahap"}
    pattern.name = "new.ahap"
    assert {finding.file for finding in haptics.check(pattern)} == {"new.ahap"}


def test_a_pattern_that_this_version_cannot_read_raises():
    pattern = pickle.loads(pickle.dumps(unusable(b'{"Version": 1, "Pattern": [')))
    for use in (haptics.render, repr, lambda each: haptics.convert(each, "haptic")):
        with pytest.raises(haptics.HapticError, match="broken.ahap:1"):
            use(pattern)
    assert haptics.check(pattern)[0].severity == "error"


def test_a_slot_without_a_pattern_raises():
    with _core.Host() as host:
        assert host.call("render", 40_000, 0, 48_000.0) == 0
        assert haptics.HapticError.of(host.output()).message == "slot 40000 has no pattern"


def test_more_patterns_than_a_host_keeps():
    patterns = [taps(number / 1_000, name=f"{number}.ahap") for number in range(2 * _core.Host.PATTERN_LIMIT)]
    first = haptics.render(patterns[0])
    for number in (0, 1, 300, 511, 0, 17):
        samples = haptics.render(patterns[number])
        assert patterns[number].duration == number / 1_000
        offset = round(number / 1_000 * 48_000)
        assert numpy.array_equal(samples[offset:offset + 4_800] != 0, first[:4_800] != 0)
    assert _core.shared()._slot_count <= _core.Host.PATTERN_LIMIT


def test_errors_of_other_patterns_leave_an_open_one_as_it_is():
    pattern = taps(0, 0.2)
    expected = haptics.render(pattern)
    for number in range(600):
        with pytest.raises(haptics.HapticError):
            haptics.Pattern.parse("{" * (1 + number % 7))
    assert numpy.array_equal(haptics.render(pattern), expected)


def test_long_patterns_make_room(monkeypatch):
    monkeypatch.setattr(_core.Host, "CONTENT_LIMIT", 2_000)
    host = _core.Host()
    patterns = [taps(*(0.01 * number for number in range(count))) for count in (1, 2, 40, 1)]
    for pattern in patterns:
        with host:
            assert host.call("render", pattern._slot(host), 0, 48_000.0) > 0
            assert host.report("text", pattern._slot(host), raw=True) == pattern.content
    assert list(host._slots.values()) and host._content_length == len(patterns[-1].content)


def test_an_error_is_pickled_with_its_attributes():
    with pytest.raises(haptics.HapticError) as caught:
        haptics.Pattern.parse('{\n  "Version": 1, "Pattern": [\n', "knock.ahap")
    kept = pickle.loads(pickle.dumps(caught.value))
    assert str(kept) == str(caught.value)
    assert vars(kept) == vars(caught.value)


@pytest.mark.parametrize("method", METHODS)
def test_a_pool_of_processes_renders_what_it_is_given(method):
    patterns = [taps(0), taps(0, 0.3), haptics.Pattern.shipped("heartbeat"), haptics.Pattern(haptics.Continuous(0, 1))]
    expected = [haptics.render(pattern) for pattern in patterns]
    with multiprocessing.get_context(method).Pool(2) as pool:
        rendered = pool.map_async(haptics.render, 3 * patterns).get(SECONDS)
        facts = pool.map_async(described, patterns).get(SECONDS)
    assert all(numpy.array_equal(*pair) for pair in zip(rendered, 3 * expected))
    assert facts == [described(pattern) for pattern in patterns]


@pytest.mark.parametrize("method", METHODS)
def test_executors_of_processes_hand_results_and_errors_back(method):
    context = multiprocessing.get_context(method)
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as executor:
        pattern = taps(0, 0.1)
        samples = executor.submit(haptics.render, pattern).result(SECONDS)
        assert numpy.array_equal(samples, haptics.render(pattern))
        returned = executor.submit(copy.copy, pattern).result(SECONDS)
        assert described(returned) == described(pattern)
        with pytest.raises(haptics.HapticError) as caught:
            executor.submit(failed, pattern).result(SECONDS)
        assert caught.value.message == "unknown profile 'bass'"
        assert caught.value.hint


def test_executors_of_threads_render_all():
    patterns = [taps(0, 0.01 * number) for number in range(1, 40)]
    expected = [haptics.render(pattern) for pattern in patterns]
    with concurrent.futures.ThreadPoolExecutor(4) as executor:
        rendered = list(executor.map(haptics.render, patterns, timeout=SECONDS))
    assert all(numpy.array_equal(*pair) for pair in zip(rendered, expected))


@pytest.mark.parametrize("scheduler", ["threads", "processes", "synchronous"])
def test_dask_renders_all(scheduler):
    patterns = [taps(0, 0.01 * number) for number in range(1, 13)]
    expected = [haptics.render(pattern) for pattern in patterns]
    tasks = [dask.delayed(haptics.render)(pattern) for pattern in patterns]
    rendered = dask.compute(*tasks, scheduler=scheduler, num_workers=2)
    assert all(numpy.array_equal(*pair) for pair in zip(rendered, expected))
    assert dask.base.tokenize(patterns[0]) == dask.base.tokenize(copy.copy(patterns[0]))


def test_threads_do_not_wait_for_each_other():
    pattern = taps(0)
    done = []

    def work():
        done.append((_core.shared(), haptics.render(pattern), haptics.compare(pattern, pattern)))

    # This thread keeps its host to itself, as it would during a call.
    with _core.shared() as mine:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join(SECONDS)
        assert len(done) == 1
        assert done[0][0] is not mine


def test_threads_run_verbs_at_once():
    a = taps(0, 0.5)
    b = taps(0, name="b.ahap")
    expected = haptics.compare(a, b).sentences, haptics.measure(haptics.render(a))
    with concurrent.futures.ThreadPoolExecutor(4) as executor:
        compared = [executor.submit(haptics.compare, a, b) for _ in range(12)]
        measured = [executor.submit(haptics.measure, haptics.render(a)) for _ in range(12)]
        assert all(each.result(SECONDS).sentences == expected[0] for each in compared)
        levels = [each.result(SECONDS)["rmsDecibels"] for each in measured]
    assert levels == 12 * [expected[1]["rmsDecibels"]]


def test_a_thread_that_ends_releases_its_host():
    hosts = []
    thread = threading.Thread(target=lambda: hosts.append(id(_core.shared())))
    thread.start()
    thread.join(SECONDS)
    gc.collect()
    assert hosts and not any(isinstance(each, _core.Host) and id(each) in hosts and each._address
                             for each in gc.get_objects())


def test_children_of_a_fork_render_while_threads_do():
    pattern = taps(0, 0.2)
    profile = haptics.profiles()[-1]
    expected = haptics.render(pattern)
    ends = threading.Event()

    def work(number):
        while not ends.is_set():
            fresh = taps(0, 0.001 * (time.monotonic_ns() % 1_000))
            haptics.render(fresh, profile=profile if number else "phone")
            haptics.convert(fresh, "haptic")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    try:
        found = [
            in_child(lambda: numpy.array_equal(haptics.render(pattern), expected)
                     and numpy.array_equal(haptics.render(taps(0, 0.2)), expected))
            for _ in range(40)
        ]
    finally:
        ends.set()
        for thread in threads:
            thread.join(SECONDS)
    assert found == 40 * [0]
    assert numpy.array_equal(haptics.render(pattern), expected)


def test_hosts_of_other_threads_end_in_a_child():
    """A child forgets the other threads of its parent, and with them their hosts, before it runs hooks of forks."""
    entered = threading.Barrier(3)
    ends = threading.Event()

    def work():
        haptics.render("heartbeat")
        entered.wait(SECONDS)
        ends.wait(SECONDS)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    entered.wait(SECONDS)
    try:
        assert in_child(lambda: haptics.render("heartbeat").any()) == 0
    finally:
        ends.set()
        for thread in threads:
            thread.join(SECONDS)


def test_children_of_children_render():
    expected = haptics.render("heartbeat")

    def renders():
        return numpy.array_equal(haptics.render("heartbeat"), expected)

    assert in_child(lambda: renders() and in_child(renders) == 0 and renders()) == 0


def test_threads_of_a_child_render():
    expected = haptics.render("heartbeat")

    def body():
        with concurrent.futures.ThreadPoolExecutor(3) as executor:
            rendered = [executor.submit(haptics.render, "heartbeat") for _ in range(6)]
            return all(numpy.array_equal(each.result(SECONDS), expected) for each in rendered)

    assert in_child(body) == 0


def test_a_fork_in_the_middle_of_a_call_of_its_own_thread():
    """As by a handler of a signal: the fork waits for other threads only."""
    with _core._gate:
        assert in_child(lambda: haptics.render("heartbeat").any()) == 0
    with _core.shared():
        assert in_child(lambda: haptics.render("heartbeat").any()) == 0
    assert haptics.render("heartbeat").any()


def test_a_child_raises_where_a_call_did_not_end(monkeypatch):
    monkeypatch.setattr(_core._Gate, "FORK_SECONDS", 0.05)
    entered = threading.Event()
    ends = threading.Event()

    def work():
        with _core._gate:
            entered.set()
            ends.wait(SECONDS)

    thread = threading.Thread(target=work)
    thread.start()
    assert entered.wait(SECONDS)
    pattern = taps(0)

    def raises():
        for use in (haptics.render, lambda each: each.text, haptics.check):
            try:
                use(pattern)
            except haptics.HapticError as error:
                if "was forked while another thread was using the library" not in error.message or not error.hint:
                    return False
            else:
                return False
        return in_child(lambda: haptics.render(pattern)) == 2

    try:
        assert in_child(raises) == 0
    finally:
        ends.set()
        thread.join(SECONDS)
    # The parent, and children from now on, are not affected.
    assert haptics.render(pattern).any()
    assert in_child(lambda: haptics.render(pattern).any()) == 0


def test_a_session_stays_with_its_process():
    pattern = taps(0)
    with haptics.Session("null:") as session:
        play = session.play(pattern)
        for call in (lambda: session.now, lambda: session.play(pattern), play.stop, lambda: play.state):
            assert in_child(call) == 2

        def closes():
            session.close()
            with haptics.Session("null:") as own:
                return own.play(pattern).wait(timeout=SECONDS) and haptics.render(pattern).any()

        assert in_child(closes) == 0
        assert play.wait(timeout=SECONDS)
        for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="open one in each process"):
                duplicate(session)


def test_a_session_in_use_by_another_thread_does_not_hold_a_child():
    session = haptics.Session("null:")
    entered = threading.Event()
    ends = threading.Event()

    def work():
        with session._host:
            entered.set()
            ends.wait(SECONDS)

    thread = threading.Thread(target=work)
    thread.start()
    assert entered.wait(SECONDS)
    try:
        assert in_child(lambda: session.now) == 2
        assert in_child(lambda: session.close() is None) == 0
    finally:
        ends.set()
        thread.join(SECONDS)
        session.close()


def test_a_process_that_never_rendered_forks():
    code = (
        "import os, temblor_haptics as haptics\n"
        "child = os.fork()\n"
        "assert haptics.render('light').any()\n"
        "if child: assert os.waitpid(child, 0)[1] == 0\n")
    subprocess.run([sys.executable, "-c", code], check=True, timeout=SECONDS)


def test_a_profile_that_changed_is_read_again(tmp_path):
    path = tmp_path / "mine.json"
    source = Path(__file__).parents[2] / "Profiles"
    for name in ("dayton-bst-1", "phone", "dayton-bst-1"):
        path.write_bytes((source / f"{name}.json").read_bytes())
        assert numpy.array_equal(haptics.render("heartbeat", profile=path), haptics.render("heartbeat", profile=name))
    assert json.loads(path.read_text())
