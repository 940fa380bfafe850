import CommandLineKit
import HapticOutputs
import HapticPlayback
import JSONText
import SystemSupport

/// What became of a live session.
struct LiveOutcome {
  /// Why it ended.
  enum Ending: String {
    /// All was played.
    case over
    /// A key asked for the end, or the keyboard went away.
    case quit
    /// A signal asked for the end.
    case interrupted
    /// The device cannot go on.
    case deviceEnded
  }

  /// Why it ended.
  var ending = Ending.over
  /// What played; nothing where no device was opened.
  var device: DeviceSummary?
  /// Frames rendered, those included that were missed.
  var frameCount: Int64 = 0
  /// Times that the device ran dry.
  var underrunCount = 0
  /// Frames that could not be heard.
  var missedFrameCount = 0
  /// The greatest magnitude of a sample.
  var peak: Float = 0
  /// Frames in which a limiter held the level down.
  var limitedFrameCount: Int64 = 0
  /// What protection did, where there is something to protect.
  var protection: ProtectionSummary?
  /// What rendering cost, where it was looked at.
  var blocks = RenderLoadStatistics()
  /// What became of the recording, where there was one.
  var recording: LiveRecording.Result?

  /// The exit status.
  var status: ExitStatus {
    ending == .deviceEnded || recording?.isComplete == false ? .failure : .done
  }

  /// The figures as a text of their own.
  func json() -> [UInt8] {
    var json = JSONWriter()
    json.object { write(to: &$0) }
    return json.finish()
  }

  /// Writes the figures into an object.
  func write(to entry: inout JSONObjectWriter) {
    let rate = device?.format.rate ?? 0
    entry.member("ending", ending.rawValue)
    if let device { entry.object("device") { device.write(to: &$0) } }
    entry.member("frames", Int(frameCount))
    entry.member("seconds", rate > 0 ? Double(frameCount) / rate : 0)
    entry.member("underruns", underrunCount)
    entry.member("missedFrames", missedFrameCount)
    entry.member("peakDecibels", NumberFormatting.decibels(peak))
    entry.member("limitedFrames", Int(limitedFrameCount))
    protection?.write(to: &entry)
    if rate > 0 { entry.object("rendering") { blocks.write(to: &$0, rate: rate) } }
    if let recording { entry.object("recording") { recording.write(to: &$0) } }
  }
}
