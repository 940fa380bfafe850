import HapticPlayback
import Testing

@Suite struct WakeSignalTests {
  @Test func waitReturnsWhenRaised() {
    let wake = WakeSignal()
    var watched = [PollDescriptor(wake.descriptor)]
    SystemTimeSource().wait(for: &watched, timeout: .zero)
    #expect(watched[0].received == 0)
    wake.raise()
    wake.raise()
    SystemTimeSource().wait(for: &watched, timeout: nil)
    #expect(watched[0].received == 1)
    #expect(wake.lower())
    #expect(!wake.lower())
  }
}
