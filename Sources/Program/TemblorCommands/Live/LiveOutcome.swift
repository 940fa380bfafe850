import CommandLineKit
import HapticPlayback
import PlaybackSessions
import SystemSupport

struct LiveOutcome {
  enum Ending: String { case over, quit, interrupted, deviceEnded }

  var ending = Ending.over
  /// The device that played, or nil if no device was opened.
  var device: DeviceSummary?
  /// The number of rendered frames, including missed frames.
  var frameCount: Int64 = 0
  /// The events that the audio device reported.
  var sinkEvents = SinkEventAggregator()
  var wasHeardToEnd = true
  var peakAmplitude: Float = 0
  /// The number of frames with gain reduction by a limiter.
  var limitedFrameCount: Int64 = 0
  var protectionSummary: ProtectionSummary?
  var renderLoadStatistics = RenderLoadStatistics()
  var recordingResult: LiveRecording.Result?

  var exitStatus: ExitStatus {
    ending == .deviceEnded || !wasHeardToEnd || recordingResult?.isComplete == false
      ? .failure : .success
  }

  var jsonFields: JSONObject {
    let rateHertz = device?.format.rate ?? 0
    return [
      "ending": ending.rawValue, "device": device?.jsonFields, "frames": frameCount,
      "seconds": rateHertz > 0 ? Double(frameCount) / rateHertz : 0,
      "underruns": sinkEvents.underrunCount,
      "ownUnderruns": sinkEvents.lateDeliveryCount, "missedFrames": sinkEvents.missedFrameCount,
      "heardToTheEnd": wasHeardToEnd,
      "peakDecibels": NumberFormatting.decibels(ofAmplitude: peakAmplitude),
      "limitedFrames": limitedFrameCount,
    ] + protectionSummary?.jsonFields + [
      "rendering": rateHertz > 0 ? renderLoadStatistics.jsonFields(rate: rateHertz) : nil,
      "recording": recordingResult?.jsonFields,
    ]
  }
}

struct ValueDistribution: Equatable, Sendable {
  static let quantileColumns: [(name: String, key: String, fraction: Double)] = [
    ("min", "min", 0.0), ("median", "median", 0.5), ("90 %", "p90", 0.9), ("99 %", "p99", 0.99),
    ("max", "max", 1.0),
  ]

  private let sortedValues: [Double]

  init(_ values: [Double]) { sortedValues = values.sorted() }

  /// Returns a quantile: the smallest value such that at least the given fraction of the values is
  /// at most this value, or 0 if there are no values.
  func quantile(_ fraction: Double) -> Double {
    guard !sortedValues.isEmpty else { return 0 }
    let quantileIndex = Int((fraction * Double(sortedValues.count)).rounded(.up)) - 1
    return sortedValues[min(max(0, quantileIndex), sortedValues.count - 1)]
  }

  var quantiles: [Double] { Self.quantileColumns.map { quantile($0.fraction) } }

  /// Returns the bins of a histogram, each with its lower bound and its number of values, and the
  /// width of a bin.
  func histogram(rowCount: Int) -> (step: Double, rows: [(start: Double, count: Int)]) {
    guard let minimumValue = sortedValues.first, let maximumValue = sortedValues.last,
      maximumValue > minimumValue,
      rowCount > 0
    else {
      return (0, sortedValues.isEmpty ? [] : [(sortedValues[0], sortedValues.count)])
    }
    let rowWidth = (maximumValue - minimumValue) / Double(rowCount)
    var rowCounts = [Int](repeating: 0, count: rowCount)
    for value in sortedValues {
      rowCounts[min(rowCount - 1, Int((value - minimumValue) / rowWidth))] += 1
    }
    return (
      rowWidth,
      rowCounts.enumerated().map { (minimumValue + Double($0.offset) * rowWidth, $0.element) }
    )
  }

  var jsonFields: JSONObject {
    Self.quantileColumns.reduce([:]) { $0 + [$1.key: quantile($1.fraction)] }
  }
}
