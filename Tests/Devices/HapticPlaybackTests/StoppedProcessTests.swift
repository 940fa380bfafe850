import TestSupport
import Testing

@testable import HapticPlayback

/// Waits and checks of a process that is stopped and continued.
@Suite struct StoppedProcessTests {
  /// A clock whose first wait includes a stop of the process for an hour, and then raises a signal
  /// that ends the thread.
  private final class InterruptedTime: TimeSource {
    private let endSignal: WakeSignal
    private let clock = VirtualTimeSource()

    init(raising endSignal: WakeSignal) { self.endSignal = endSignal }

    var now: Duration { clock.now }

    func wait(for descriptors: inout [PollDescriptor], timeout: Duration?) {
      guard now == .zero else {
        return SystemTimeSource().wait(for: &descriptors, timeout: HangLimit.duration)
      }
      clock.advance(by: .seconds(3_600))
      endSignal.raise()
    }
  }

  @Test("A wait for a thread does not count the time during which the process is stopped")
  func waitsDoNotCountStops() throws {
    let endSignal = try WakeSignal()
    let thread = try BackgroundThread { endSignal.waitUntilRaised() }
    #expect(thread.wait(within: .seconds(2), by: InterruptedTime(raising: endSignal)))
  }

  @Test("A wait for a thread that does not end lasts exactly as long as its timeout")
  func waitsHaveALimit() throws {
    let endSignal = try WakeSignal()
    let thread = try BackgroundThread { endSignal.waitUntilRaised() }
    for timeout in [Duration.zero, .milliseconds(1), .milliseconds(250), .seconds(60)] {
      let time = VirtualTimeSource()
      #expect(!thread.wait(within: timeout, by: time))
      #expect(time.now == timeout)
    }
    endSignal.raise()
    #expect(thread.wait(within: HangLimit.duration))
  }

  @Test("A check that is more than an interval late detects a stop, also for the next interval")
  func stopsAreDetected() {
    var detector = StopDetector(checkInterval: .milliseconds(250))
    let times = [0, 250, 251, 720, 2_720, 2_721, 2_970, 3_200]
    let isStopped = times.map { detector.detectsStop(at: .milliseconds($0)) }
    #expect(isStopped == [false, false, false, false, true, true, false, false])
  }
}
