import Glibc
import TestSupport
import Testing

@testable import ReviewPages

/// A PulseAudio of its own with one sink that nobody hears.
private final class PulseAudio {
  static let path = "/usr/bin/pulseaudio"
  /// A Boolean value that indicates whether it is installed, and tests with servers are requested.
  static let isWanted = unsafe access(path, X_OK) == 0 && getenv("TEMBLOR_TEST_SERVERS") != nil

  let folder: TemporaryFolder
  private let process: pid_t

  init() throws {
    folder = try TemporaryFolder()
    let base = folder.path
    process = try ProcessRunner.start(
      [
        Self.path, "--daemonize=no", "-n", "--use-pid-file=no", "--exit-idle-time=600",
        "-L", "module-native-protocol-unix socket=\(base)/native auth-anonymous=1",
        "-L", "module-null-sink sink_name=temblor rate=48000 channels=2",
      ],
      environment: [
        "PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=\(base)", "XDG_RUNTIME_DIR=\(base)",
        "PULSE_RUNTIME_PATH=\(base)",
      ],
      streams: [
        (0, .file("/dev/null", flags: O_RDONLY)), (1, .file("/dev/null", flags: O_WRONLY)),
        (2, .file("/dev/null", flags: O_WRONLY)),
      ], leading: .group)
    let end = ContinuousClock.now + .seconds(30)
    while unsafe access("\(base)/native", F_OK) != 0 {
      guard ContinuousClock.now < end else {
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
      if: PulseAudio.isWanted,
      "not requested by TEMBLOR_TEST_SERVERS, or PulseAudio is not installed"))
  struct StudioOnSoundServerTests {
    /// The times between the first press, which starts the stream, and Play, in milliseconds.
    private static let delays = [200, 300, 500, 800, 1_000, 1_500, 2_000, 5_000]
    private static let isReady = "document.body.dataset.state === 'ready'"
    private static let clock = "Number(document.getElementById('clock').textContent)"

    /// Returns a promise that ends when a condition is true.
    private func awaiting(_ condition: String) -> String {
      """
      new Promise((resolve) => {
        const look = () => (\(condition) ? resolve(true) : setTimeout(look, 20));
        look();
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
      let file = try TemporaryFolder()
      try file.write(StudioInBrowserTests.html(), to: "studio.html")
      let browser = try Firefox(soundEnvironment: server.environment)
      for milliseconds in Self.delays {
        try browser.open("file://\(file("studio.html"))")
        _ = try browser.evaluate(awaiting(Self.isReady))
        try browser.click(x: 400, y: 5)
        _ = try browser.evaluate(delay(milliseconds))
        try browser.press(" ")
        #expect(try browser.bool(awaiting("\(Self.clock) > 0.3")))
      }
    }

    /// A read of the latency may never return while the stream is starting, and nothing reports
    /// that it has started: the clock already advances before.
    @Test(
      "The studio does not read the output latency in Firefox",
      .enabled(if: Firefox.isInstalled, "apt-get install firefox-esr"))
    func latencyIsNotReadInFirefox() throws {
      let server = try PulseAudio()
      let file = try TemporaryFolder()
      try file.write(StudioInBrowserTests.html(), to: "studio.html")
      let browser = try Firefox(soundEnvironment: server.environment)
      try browser.open("file://\(file("studio.html"))")
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
      "Play without a sound output says so",
      .enabled(if: Firefox.isInstalled, "apt-get install firefox-esr"))
    func missingOutputIsReported() throws {
      let file = try TemporaryFolder()
      try file.write(StudioInBrowserTests.html(), to: "studio.html")
      let browser = try Firefox(soundEnvironment: ["PULSE_SERVER=unix:/nonexistent"])
      try browser.open("file://\(file("studio.html"))")
      _ = try browser.evaluate(awaiting(Self.isReady))
      try browser.click(x: 400, y: 5)
      try browser.press(" ")
      let note = "document.getElementById('note')"
      let words = "No sound yet: "
      let isShown = "!\(note).hidden && \(note).textContent.startsWith('\(words)')"
      #expect(try browser.bool(awaiting(isShown)))
    }
  }
}
