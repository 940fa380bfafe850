import Glibc
import TestSupport
import Testing

@testable import ReviewPages

/// A PulseAudio server for one test, with a null sink.
private final class PulseAudio {
  static let path = "/usr/bin/pulseaudio"
  /// A Boolean value that indicates whether PulseAudio is installed, and tests with servers are
  /// requested.
  static let isRequested = unsafe access(path, X_OK) == 0 && getenv("TEMBLOR_TEST_SERVERS") != nil

  let folder: TemporaryFolder
  private let process: pid_t

  init() throws {
    folder = try TemporaryFolder()
    let folderPath = folder.path
    process = try ProcessRunner.start(
      [
        Self.path, "--daemonize=no", "-n", "--use-pid-file=no", "--exit-idle-time=600",
        "-L", "module-native-protocol-unix socket=\(folderPath)/native auth-anonymous=1",
        "-L", "module-null-sink sink_name=temblor rate=48000 channels=2",
      ],
      environment: [
        "PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=\(folderPath)",
        "XDG_RUNTIME_DIR=\(folderPath)",
        "PULSE_RUNTIME_PATH=\(folderPath)",
      ],
      streams: [
        (0, .file("/dev/null", flags: O_RDONLY)), (1, .file("/dev/null", flags: O_WRONLY)),
        (2, .file("/dev/null", flags: O_WRONLY)),
      ], leading: .group)
    let deadline = ContinuousClock.now + HangLimit.duration
    while unsafe access("\(folderPath)/native", F_OK) != 0 {
      guard ContinuousClock.now < deadline else {
        throw BrowserError(description: "PulseAudio did not start in time")
      }
      poll(nil, 0, 20)
    }
  }

  deinit {
    kill(-process, SIGKILL)
    _ = ProcessRunner.waitForEnd(of: process)
  }

  /// The environment of programs that play on it.
  var environment: [String] {
    ["PULSE_SERVER=unix:\(folder("native"))", "XDG_RUNTIME_DIR=\(folder.path)"]
  }
}

extension InBrowser {
  /// The studio in browsers with a real sound server: without one, their audio streams never start.
  @Suite(
    .enabled(
      if: PulseAudio.isRequested,
      "not requested by TEMBLOR_TEST_SERVERS, or PulseAudio is not installed"))
  struct StudioOnSoundServerTests {
    /// The times between the first press, which starts the stream, and Play, in milliseconds.
    private static let delays = [200, 300, 500, 800, 1_000, 1_500, 2_000, 5_000]
    private static let isReady = "document.body.dataset.state === 'ready'"
    private static let clock = "Number(document.getElementById('clock').textContent)"

    /// Returns a promise that resolves when a condition is true.
    private func awaiting(_ condition: String) -> String {
      """
      new Promise((resolve) => {
        const check = () => (\(condition) ? resolve(true) : setTimeout(check, 20));
        check();
      })
      """
    }

    private func delay(_ milliseconds: Int) -> String {
      "new Promise((resolve) => setTimeout(() => resolve(true), \(milliseconds)))"
    }

    @Test("Play in Chromium starts at any time after the first press")
    func playStartsInChromium() throws {
      let server = try PulseAudio()
      let browser = try Browser(soundEnvironment: server.environment)
      for milliseconds in Self.delays {
        let page = try BrowserPage(StudioInBrowserTests.html(), in: browser)
        try page.wait(for: Self.isReady)
        try page.drag((400, 5))
        try page.evaluate(delay(milliseconds))
        try page.press(" ")
        try page.evaluate(awaiting("\(Self.clock) > 0.3"))
        #expect(page.errorMessages == [])
      }
    }

    @Test(
      "Play in Firefox starts at any time after the first press",
      .enabled(if: Firefox.isInstalled, "apt-get install firefox-esr"))
    func playStartsInFirefox() throws {
      let server = try PulseAudio()
      let folder = try TemporaryFolder()
      try folder.write(StudioInBrowserTests.html(), to: "studio.html")
      let browser = try Firefox(soundEnvironment: server.environment)
      for milliseconds in Self.delays {
        try browser.open("file://\(folder("studio.html"))")
        _ = try browser.evaluate(awaiting(Self.isReady))
        try browser.click(x: 400, y: 5)
        _ = try browser.evaluate(delay(milliseconds))
        try browser.press(" ")
        #expect(try browser.bool(awaiting("\(Self.clock) > 0.3")))
      }
    }

    /// A read of the latency may never return while the stream is starting, and nothing reports
    /// that the stream has started: the clock advances before the start.
    @Test(
      "The studio does not read the output latency in Firefox",
      .enabled(if: Firefox.isInstalled, "apt-get install firefox-esr"))
    func latencyIsNotReadInFirefox() throws {
      let server = try PulseAudio()
      let folder = try TemporaryFolder()
      try folder.write(StudioInBrowserTests.html(), to: "studio.html")
      let browser = try Firefox(soundEnvironment: server.environment)
      try browser.open("file://\(folder("studio.html"))")
      _ = try browser.evaluate(awaiting(Self.isReady))
      _ = try browser.evaluate(
        """
        Object.defineProperty(AudioContext.prototype, "outputLatency", {
          get() { document.body.dataset.latencyReads = "some"; return 0; },
        }) && true
        """)
      try browser.click(x: 400, y: 5)
      try browser.press(" ")
      #expect(try browser.bool(awaiting("\(Self.clock) > 0.5")))
      #expect(try browser.bool("document.body.dataset.latencyReads === undefined"))
    }

    @Test(
      "Play without a sound output shows a message",
      .enabled(if: Firefox.isInstalled, "apt-get install firefox-esr"))
    func missingOutputIsReported() throws {
      let folder = try TemporaryFolder()
      try folder.write(StudioInBrowserTests.html(), to: "studio.html")
      let browser = try Firefox(soundEnvironment: ["PULSE_SERVER=unix:/nonexistent"])
      try browser.open("file://\(folder("studio.html"))")
      _ = try browser.evaluate(awaiting(Self.isReady))
      try browser.click(x: 400, y: 5)
      try browser.press(" ")
      let note = "document.getElementById('note')"
      let messagePrefix = "No sound yet: "
      let isShown = "!\(note).hidden && \(note).textContent.startsWith('\(messagePrefix)')"
      #expect(try browser.bool(awaiting(isShown)))
    }
  }
}
