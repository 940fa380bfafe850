import TransducerProfiles
import HapticPlayback
import Testing

@Suite struct ListenPanTests {
  private let seat = TransducerArray(
    name: "seat",
    transducers: [
      .init(channelNumber: 1, position: .init(-1)), .init(channelNumber: 2, position: .init(1)),
    ])

  private func level(_ fixture: ListenFixture, _ channel: Int, _ range: Range<Int>) -> Float {
    fixture.playback.samples(ofChannel: channel)[range].map(abs).max() ?? 0
  }

  @Test func waitingSoundStartsAtItsPosition() {
    let fixture = ListenFixture(array: seat)
    fixture.ask("hum 1 0.5 1 at 0.1 as a")
    #expect(fixture.ask("pan a -1") == "ok")
    fixture.run(0.3)
    #expect(level(fixture, 0, 4_000..<14_000) > 0.1)
    #expect(level(fixture, 1, 0..<14_000) == 0)
  }

  @Test func movementTakesTheGivenTime() {
    let fixture = ListenFixture(array: seat)
    fixture.ask("hum 1 0.5 3 as a")
    fixture.ask("pan a -1")
    fixture.run(0.1)
    #expect(fixture.ask("pan a 1 over 1") == "ok")
    fixture.run(1.3)
    #expect(level(fixture, 1, 0..<4_800) == 0)
    let fullLevel = level(fixture, 0, 2_400..<4_800)
    // Half a second later, the sound is in the middle.
    #expect(abs(level(fixture, 0, 28_000..<29_600) / fullLevel - 0.707) < 0.06)
    #expect(abs(level(fixture, 1, 28_000..<29_600) / fullLevel - 0.707) < 0.06)
    #expect(level(fixture, 0, 54_000..<62_000) < 1e-3)
    #expect(abs(level(fixture, 1, 54_000..<62_000) / fullLevel - 1) < 0.01)
  }

  @Test func refusalsDescribePositions() {
    let fixture = ListenFixture(array: seat)
    fixture.ask("hum 1 0.5 1 as a")
    #expect(
      fixture.ask("pan a 1/2")
        == #"error invalid-value: POS must be a position on the line, such as -0.5, not '1/2'"#)
    #expect(fixture.ask("pan b 1") == "error unknown-name: no sound named 'b' is playing")
    #expect(
      ListenFixture().ask("pan a 1")
        == """
        error invalid-value: no array is configured; start 'temblor listen' with '--array FILE'
        """)
  }
}
