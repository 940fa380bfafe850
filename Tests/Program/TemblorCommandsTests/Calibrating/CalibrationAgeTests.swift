import HapticRender
import PlaybackSessions
import TestSupport
import Testing

@testable import CommandLineKit
@testable import TemblorCommands

/// Reminders to check a measured profile.
@Suite struct CalibrationAgeTests {
  private func reminder(_ date: String?, today: String) -> String? {
    let measured = date.map {
      TransducerMeasurement(date: $0, fitResidualDecibels: -30, sensorQuantity: .acceleration)
    }
    let profile = TransducerProfile(
      name: "mine", summary: "", frequency: FrequencyMapping(lowHertz: 20, highHertz: 80),
      hardware: TransducerHardware(product: "A", measurement: measured))
    return CalibrationAge.reminder(for: profile, today: today)
  }

  @Test(arguments: [
    (nil, "2026-11-23"), ("in spring", "2026-11-23"), ("2026-11", "2026-11-23"),
    ("2026-13-01", "2027-11-23"),
    ("2026-05-27", "2026-11-23"), ("2027-01-01", "2026-11-23"), ("2020-01-01", "unknown"), ("", ""),
  ]) func recentOrUnknownDatesCauseNoReminder(date: String?, today: String) {
    #expect(reminder(date, today: today) == nil)
  }

  @Test func checkIsOfferedAfterHalfAYear() {
    #expect(
      reminder("2026-05-26", today: "2026-11-23")
        == """
        mine: measured 2026-05-26, 6 months ago; run 'temblor calibrate --quick' to check it in \
        5 s
        """)
    // Half a year that contains a leap day and the end of a year.
    #expect(reminder("2023-12-31", today: "2024-06-28") == nil)
    #expect(reminder("2023-12-31", today: "2024-06-29") != nil)
  }

  private final class Idle: PlaybackActivity {
    let playbackState = PlaybackStatus.State.idle
    let playbackProgress: (position: Double, duration: Double?) = (0, nil)
    func updateActivity(at now: Duration) -> ActivityStep { .wait(nil) }
  }

  @Test func playRemindsOfTheCheckOnce() throws {
    let folder = try TemporaryFolder()
    try folder.write(
      """
      {"name": "old", "summary": "Old.", "frequency": {"low": 25, "high": 80},
       "hardware": {"product": "A", "resonance": 40, "qualityFactor": 4,
       "measured": {"date": "2001-02-03", "residual": -30, "sensor": "velocity"}}, "sources": ["S"]}
      """, to: "old.json")
    let environment = ScriptedEnvironment([(0.2, .key(.character("q")))], channelCount: 2)
    let arguments = try PlayCommand.definition().parseArguments([
      "light", "--profile", folder("old.json"),
    ])
    let options = try LiveOptions(arguments)
    _ = try options.play(
      in: options.makeSession(in: environment, environment.recordedTerminal.terminal)
    ) { _ in
      Idle()
    }
    #expect(environment.recordedTerminal.error.ranges(of: "old: measured 2001-02-03, ").count == 1)
  }
}
