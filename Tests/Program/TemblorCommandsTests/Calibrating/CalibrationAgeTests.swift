import HapticRender
import PlaybackSessions
import TestSupport
import Testing

@testable import CommandLineKit
@testable import TemblorCommands

/// When a check of a measured profile is offered.
@Suite struct CalibrationAgeTests {
  private func note(_ date: String?, today: String) -> String? {
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
  ]) func whatIsRecentOrUnknownIsNotNoted(date: String?, today: String) {
    #expect(note(date, today: today) == nil)
  }

  @Test func afterHalfAYearTheCheckIsOffered() {
    #expect(
      note("2026-05-26", today: "2026-11-23")
        == """
        mine: measured 2026-05-26, 6 months ago; run 'temblor calibrate --quick' to check it in \
        5 s
        """)
    // Over a leap day and a year's end.
    #expect(note("2023-12-31", today: "2024-06-28") == nil)
    #expect(note("2023-12-31", today: "2024-06-29") != nil)
  }

  private final class Idle: PlaybackActivity {
    let playbackState = PlaybackStatus.State.idle
    let playbackProgress: (position: Double, duration: Double?) = (0, nil)
    func updateActivity(at now: Duration) -> ActivityStep { .wait(nil) }
  }

  @Test func playOffersItOnce() throws {
    let place = try TemporaryFolder()
    try place.write(
      """
      {"name": "old", "summary": "Old.", "frequency": {"low": 25, "high": 80},
       "hardware": {"product": "A", "resonance": 40, "qualityFactor": 4,
       "measured": {"date": "2001-02-03", "residual": -30, "sensor": "velocity"}}, "sources": ["S"]}
      """, to: "old.json")
    let stage = ScriptedEnvironment([(0.2, .key(.character("q")))], channelCount: 2)
    let arguments = try PlayCommand.definition().parseArguments([
      "light", "--profile", place("old.json"),
    ])
    let options = try LiveOptions(arguments)
    _ = try options.play(in: options.makeSession(in: stage, stage.recordedTerminal.terminal)) { _ in
      Idle()
    }
    #expect(stage.recordedTerminal.error.ranges(of: "old: measured 2001-02-03, ").count == 1)
  }
}
