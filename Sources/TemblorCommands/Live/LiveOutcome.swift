import CommandLineKit
internal import Glibc
import HapticOutputs
import HapticPlayback
import HapticRender
import PatternWorkflows
import Reading
import SoundFile
import SystemSupport

/// What became of a live session.
struct LiveOutcome {
  enum Ending: String {
    case over
    case quit
    case interrupted
    case deviceEnded
  }

  var ending = Ending.over
  /// What played; nothing where no device was opened.
  var device: DeviceSummary?
  /// Frames rendered, those included that were missed.
  var frameCount: Int64 = 0
  var underrunCount = 0
  /// Those of them for which the program delivered frames too late.
  var ownUnderrunCount = 0
  /// Frames that could not be heard.
  var missedFrameCount = 0
  var isHeardToTheEnd = true
  var peak: Float = 0
  /// Frames in which a limiter held the level down.
  var limitedFrameCount: Int64 = 0
  /// What protection did, where there is something to protect.
  var protection: ProtectionSummary?
  /// What rendering cost, where it was looked at.
  var blocks = RenderLoadStatistics()
  /// What became of the recording, where there was one.
  var recording: LiveRecording.Result?

  var status: ExitStatus {
    ending == .deviceEnded || !isHeardToTheEnd || recording?.isComplete == false ? .failure : .done
  }

  var fields: JSONFields {
    let rate = device?.format.rate ?? 0
    return [
      "ending": ending.rawValue, "device": device?.fields, "frames": frameCount,
      "seconds": rate > 0 ? Double(frameCount) / rate : 0, "underruns": underrunCount,
      "ownUnderruns": ownUnderrunCount, "missedFrames": missedFrameCount, "heardToTheEnd": isHeardToTheEnd,
      "peakDecibels": NumberFormatting.decibels(peak), "limitedFrames": limitedFrameCount,
    ] + protection?.fields + [
      "rendering": rate > 0 ? blocks.fields(rate: rate) : nil, "recording": recording?.fields,
    ]
  }
}

/// How long rendering took, and how far ahead of the ear it was, over all blocks of a run.
struct RenderLoadStatistics: Equatable, Sendable {
  private(set) var blockCount = 0
  /// The greatest render time of a block as a share of the time it lasts.
  private(set) var worstShare = 0.0
  var meanShare: Double { blockCount > 0 ? shareSum / Double(blockCount) : 0 }
  /// The most frames that waited to be heard when a block had been handed over.
  private(set) var greatestDelay = 0
  private var shareSum = 0.0

  mutating func add(_ records: [BlockTiming], rate: Double) {
    for record in records where record.frameCount > 0 {
      let share = (record.rendered - record.began).inSeconds * rate / Double(record.frameCount)
      blockCount += 1
      shareSum += share
      worstShare = max(worstShare, share)
      greatestDelay = max(greatestDelay, record.delay)
    }
  }

  func fields(rate: Double) -> JSONFields {
    [
      "blocks": blockCount, "meanRenderLoad": meanShare, "peakRenderLoad": worstShare,
      "greatestDelaySeconds": Double(greatestDelay) / rate,
    ]
  }
}

extension Duration {
  /// The duration in seconds.
  var inSeconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) * 1e-18
  }

  /// A duration of some seconds, rounded to nanoseconds.
  static func inSeconds(_ seconds: Double) -> Duration { .nanoseconds(Int64(seconds * 1e9)) }
}

/// What is to be said of many measured values.
struct Distribution: Equatable, Sendable {
  static let columns: [(name: String, key: String, share: Double)] = [
    ("min", "min", 0.0), ("median", "median", 0.5), ("90 %", "p90", 0.9), ("99 %", "p99", 0.99), ("max", "max", 1.0),
  ]

  private let sorted: [Double]

  /// A distribution of values in any order.
  init(_ values: [Double]) { sorted = values.sorted() }

  /// The smallest value that at least a share of all values does not exceed; 0 where there is none.
  func quantile(_ share: Double) -> Double {
    guard !sorted.isEmpty else { return 0 }
    let place = Int((share * Double(sorted.count)).rounded(.up)) - 1
    return sorted[min(max(0, place), sorted.count - 1)]
  }

  /// The quantiles of all columns.
  var quantiles: [Double] { Self.columns.map { quantile($0.share) } }

  /// Rows of a histogram with at most so many rows, each a value and how many lie in its step.
  func histogram(rowCount: Int) -> (step: Double, rows: [(start: Double, count: Int)]) {
    guard let least = sorted.first, let most = sorted.last, most > least, rowCount > 0 else {
      return (0, sorted.isEmpty ? [] : [(sorted[0], sorted.count)])
    }
    let step = (most - least) / Double(rowCount)
    var counts = [Int](repeating: 0, count: rowCount)
    for value in sorted { counts[min(rowCount - 1, Int((value - least) / step))] += 1 }
    return (step, counts.enumerated().map { (least + Double($0.offset) * step, $0.element) })
  }

  var fields: JSONFields {
    Self.columns.reduce([:]) { $0 + [$1.key: quantile($1.share)] }
  }
}

extension JSONObjectWriter {
  /// Starts the object that a verb prints: the version grows when a member is removed or changes its meaning.
  mutating func formatVersion() { member("formatVersion", 1) }
}

/// A sound file that what is heard is written to, which takes its name when it is complete.
final class LiveRecording {
  struct Result: Equatable, Sendable {
    var path: String
    var isComplete: Bool
    /// Frames in the file.
    var frameCount: Int64
    /// Frames that the disk was too slow for.
    var droppedFrameCount: Int64

    var fields: JSONFields {
      ["file": path, "complete": isComplete, "frames": frameCount, "droppedFrames": droppedFrameCount]
    }
  }

  /// 24 bits: finer than any converter, and held by every kind of file.
  private static let samples = SampleFormat.s24

  let recording: RecordingBuffer
  private let path: String
  private let rate: Double
  private let writer: RecordingWriter
  /// What the writer writes to: its own, so that a disk that hangs never writes to a descriptor that became
  /// another file's.
  private let descriptor: Int32
  private var file: AtomicFileWriter

  /// Starts the file.
  ///
  /// - Parameter seconds: How long it may become; nil means no limit.
  /// - Parameter failureHandler: Told when no more can be recorded, on another thread.
  init(
    to path: String, device: DeviceSummary, upTo seconds: Double? = nil,
    failureHandler: @escaping @Sendable (SinkEvent) -> Void
  ) throws {
    self.path = path
    rate = device.format.rate
    recording = RecordingBuffer(device.format)
    let file = try AtomicFileWriter(path)
    descriptor = fcntl(file.descriptor, F_DUPFD_CLOEXEC, 0)
    writer = try RecordingWriter(
      recording, rate: Int(device.format.rate), to: descriptor, path: path,
      storedAs: SoundFileFormat(container: SoundFileFormat.container(ofName: path) ?? .wav, samples: Self.samples),
      maximumFrameCount: seconds.map { Int64($0 * device.format.rate) },
      tags: SoundFileTags(
        title: FileSystem.stem(of: path), software: "Temblor \(temblorVersion)",
        comment: "recorded, rendering model \(RenderPlan.modelVersion)")
    ) { error in failureHandler(SinkEvent(.degraded, text: "\(path): \(error.description); recording stopped")) }
    self.file = file
  }

  /// Why a name can be no recording, or nothing.
  static func unsupportedReason(to path: String) -> String? {
    guard SoundFileFormat.container(ofName: path) == nil else { return nil }
    return "unknown file extension of \(path.inQuotes); use .wav, .flac, .aiff, .w64, .rf64, .caf or .ogg"
  }

  /// Whether nothing is at a path, or a file that this program wrote, whose tags at its start name it; W64 has no tags.
  static func mayReplace(_ path: String) -> Bool {
    guard FileSystem.entry(at: path) == .file, let descriptor = try? FileSystem.open(path) else { return true }
    defer { close(descriptor) }
    var head: [UInt8] = []
    _ = try? FileSystem.append(to: &head, 65_536, of: descriptor, name: path)
    return head.isEmpty || head.indices.contains { head[$0...].starts(with: "Temblor ".utf8) }
  }

  /// Completes the file, when nothing plays any more; answers also what the user must know.
  ///
  /// - Parameter limit: How long the disk may take.
  func finish(within limit: Duration) -> (result: Result, message: String?) {
    guard let outcome = writer.finish(within: limit) else {
      return (
        Result(path: path, isComplete: false, frameCount: 0, droppedFrameCount: 0),
        "\(path.printable): nothing was written; the disk does not respond"
      )
    }
    close(descriptor)
    var result = Result(
      path: path, isComplete: false, frameCount: outcome.frameCount, droppedFrameCount: outcome.droppedFrameCount)
    // A file that came to its own limit is whole; of another, what was written is kept.
    let failure = outcome.failure.flatMap { $0.kind == .tooLong ? nil : $0 }
    if let failure, outcome.frameCount == 0 {
      return (result, "\(path.printable): nothing was written, since \(failure.description)")
    }
    do { try file.commit() } catch { return (result, error.description) }
    if let failure {
      let seconds = NumberFormatting.rounded(Double(outcome.frameCount) / rate, places: 1)
      return (result, "\(path.printable): only the first \(seconds) s were written, since \(failure.description)")
    }
    result.isComplete = true
    guard outcome.droppedFrameCount > 0 else { return (result, nil) }
    let seconds = NumberFormatting.rounded(Double(outcome.droppedFrameCount) / rate, places: 3)
    return (result, "\(path.printable): \(seconds) s of audio lost; the disk was too slow")
  }
}
