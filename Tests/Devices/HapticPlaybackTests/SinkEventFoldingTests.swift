import HapticPlayback
import Testing

@Suite struct SinkEventFoldingTests {
  private let underrun = SinkEvent(
    .underrun, cause: .lateDelivery, missedFrameCount: 10, text: "underrun")

  /// A device in trouble for a minute, a hundred times a second.
  @Test func aStormIsAHandfulOfReports() {
    var folding = SinkEventAggregator()
    var reports: [SinkEventAggregator.Report] = []
    for moment in 0..<6_000 {
      reports += folding.add(underrun, at: .milliseconds(10 * moment))
    }
    // At 0, 1, 3, 7, 15 and 31 seconds.
    #expect(reports.count == 6)
    reports += folding.drainDueReports(at: nil)
    #expect(reports.reduce(0) { $0 + $1.count } == 6_000)
    #expect(reports.reduce(0) { $0 + $1.event.missedFrameCount } == 60_000)
    #expect(folding.underrunCount == 6_000)
    #expect(folding.lateDeliveryCount == 6_000)
    #expect(folding.missedFrameCount == 60_000)
  }

  @Test func whatIsHeldIsReportedWithoutAnotherEvent() {
    var folding = SinkEventAggregator()
    let gone = SinkEvent(.disconnected, text: "gone")
    #expect(folding.add(gone, at: .zero) == [.init(gone)])
    #expect(folding.timeUntilNextReport(at: .zero) == nil)
    #expect(folding.add(gone, at: .milliseconds(400)) == [])
    #expect(folding.timeUntilNextReport(at: .milliseconds(400)) == .milliseconds(600))
    #expect(folding.drainDueReports(at: .milliseconds(999)) == [])
    #expect(folding.drainDueReports(at: .seconds(1)) == [.init(gone)])
    #expect(folding.timeUntilNextReport(at: .seconds(1)) == nil)
  }

  @Test func otherKindsAndCausesAndAnEndAreNotHeld() {
    var folding = SinkEventAggregator()
    let late = SinkEvent(.underrun, cause: .lateDevice, text: "late")
    let failed = SinkEvent(.failed, missedFrameCount: 5, text: "failed")
    #expect(folding.add(underrun, at: .zero) == [.init(underrun)])
    #expect(folding.add(late, at: .zero) == [.init(late)])
    #expect(folding.add(failed, at: .zero) == [.init(failed)])
    #expect(folding.add(failed, at: .zero) == [.init(failed)])
    #expect(folding.hasFailed)
    #expect(folding.groups.map(\.count) == [1, 1, 2])
    #expect(folding.groups.map(\.missedFrameCount) == [10, 0, 10])
  }

  @Test func afterAQuietTimeTheNextIsReportedAtOnce() {
    var folding = SinkEventAggregator()
    for moment in 0..<100 {
      _ = folding.add(underrun, at: .milliseconds(100 * moment))
    }
    _ = folding.drainDueReports(at: .seconds(20))
    #expect(folding.add(underrun, at: .seconds(60)) == [.init(underrun)])
  }
}
