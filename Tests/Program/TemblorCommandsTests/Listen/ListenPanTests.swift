import TransducerProfiles
import HapticPlayback
import Testing

@Suite struct ListenPanTests {
  private let seat = TransducerArray(
    name: "seat",
    transducers: [
      .init(channelNumber: 1, position: .init(-1)), .init(channelNumber: 2, position: .init(1)),
    ])

  private func level(_ studio: ListenFixture, _ channel: Int, _ range: Range<Int>) -> Float {
    studio.playback.samples(ofChannel: channel)[range].map(abs).max() ?? 0
  }

  @Test func whatWaitsForItsTimeBeginsAtItsPosition() {
    let studio = ListenFixture(array: seat)
    studio.ask("hum 1 0.5 1 at 0.1 as a")
    #expect(studio.ask("pan a -1") == "ok")
    studio.run(0.3)
    #expect(level(studio, 0, 4_000..<14_000) > 0.1)
    #expect(level(studio, 1, 0..<14_000) == 0)
  }

  @Test func aWayTakesItsTime() {
    let studio = ListenFixture(array: seat)
    studio.ask("hum 1 0.5 3 as a")
    studio.ask("pan a -1")
    studio.run(0.1)
    #expect(studio.ask("pan a 1 over 1") == "ok")
    studio.run(1.3)
    #expect(level(studio, 1, 0..<4_800) == 0)
    let full = level(studio, 0, 2_400..<4_800)
    // Half a second on it is in the middle.
    #expect(abs(level(studio, 0, 28_000..<29_600) / full - 0.707) < 0.06)
    #expect(abs(level(studio, 1, 28_000..<29_600) / full - 0.707) < 0.06)
    #expect(level(studio, 0, 54_000..<62_000) < 1e-3)
    #expect(abs(level(studio, 1, 54_000..<62_000) / full - 1) < 0.01)
  }

  @Test func refusalsSayWhatAPositionIs() {
    let studio = ListenFixture(array: seat)
    studio.ask("hum 1 0.5 1 as a")
    #expect(
      studio.ask("pan a 1/2")
        == #"error invalid-value: POS must be a position on the line, such as -0.5, not '1/2'"#)
    #expect(studio.ask("pan b 1") == "error unknown-name: no sound named 'b' is playing")
    #expect(
      ListenFixture().ask("pan a 1")
        == """
        error invalid-value: no array is configured; start 'temblor listen' with '--array FILE'
        """)
  }
}
