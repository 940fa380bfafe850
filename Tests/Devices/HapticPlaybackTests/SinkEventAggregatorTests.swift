import HapticPlayback
import Testing

@Suite struct SinkEventAggregatorTests {
  private let underrun = SinkEvent(
    .underrun, cause: .lateDelivery, missedFrameCount: 10, text: "underrun")

  /// An underrun every 10 ms, for a minute.
  @Test func frequentEventsAreReportedAtGrowingIntervals() {
    var aggregator = SinkEventAggregator()
    var reports: [SinkEventAggregator.Report] = []
    for index in 0..<6_000 {
      reports += aggregator.add(underrun, at: .milliseconds(10 * index))
    }
    // The reports are at 0, 1, 3, 7, 15, and 31 seconds.
    #expect(reports.count == 6)
    reports += aggregator.drainDueReports(at: nil)
    #expect(reports.reduce(0) { $0 + $1.count } == 6_000)
    #expect(reports.reduce(0) { $0 + $1.event.missedFrameCount } == 60_000)
    #expect(aggregator.underrunCount == 6_000)
    #expect(aggregator.lateDeliveryCount == 6_000)
    #expect(aggregator.missedFrameCount == 60_000)
  }

  @Test func heldEventsAreReportedWithoutAnotherEvent() {
    var aggregator = SinkEventAggregator()
    let disconnection = SinkEvent(.disconnected, text: "gone")
    #expect(aggregator.add(disconnection, at: .zero) == [.init(disconnection)])
    #expect(aggregator.timeUntilNextReport(at: .zero) == nil)
    #expect(aggregator.add(disconnection, at: .milliseconds(400)) == [])
    #expect(aggregator.timeUntilNextReport(at: .milliseconds(400)) == .milliseconds(600))
    #expect(aggregator.drainDueReports(at: .milliseconds(999)) == [])
    #expect(aggregator.drainDueReports(at: .seconds(1)) == [.init(disconnection)])
    #expect(aggregator.timeUntilNextReport(at: .seconds(1)) == nil)
  }

  @Test func otherKindsCausesAndFailuresAreNotHeld() {
    var aggregator = SinkEventAggregator()
    let lateDevice = SinkEvent(.underrun, cause: .lateDevice, text: "late")
    let failure = SinkEvent(.failed, missedFrameCount: 5, text: "failed")
    #expect(aggregator.add(underrun, at: .zero) == [.init(underrun)])
    #expect(aggregator.add(lateDevice, at: .zero) == [.init(lateDevice)])
    #expect(aggregator.add(failure, at: .zero) == [.init(failure)])
    #expect(aggregator.add(failure, at: .zero) == [.init(failure)])
    #expect(aggregator.hasFailed)
    #expect(aggregator.groups.map(\.count) == [1, 1, 2])
    #expect(aggregator.groups.map(\.missedFrameCount) == [10, 0, 10])
  }

  @Test func eventAfterAQuietPeriodIsReportedAtOnce() {
    var aggregator = SinkEventAggregator()
    for index in 0..<100 {
      _ = aggregator.add(underrun, at: .milliseconds(100 * index))
    }
    _ = aggregator.drainDueReports(at: .seconds(20))
    #expect(aggregator.add(underrun, at: .seconds(60)) == [.init(underrun)])
  }
}
