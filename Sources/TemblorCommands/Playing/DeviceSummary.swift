import HapticPlayback
import JSONText
import SystemSupport

/// The device that plays, and what it granted.
struct DeviceSummary: Equatable, Sendable {
  /// The name it was asked for by.
  var name: String
  /// Frames per second, channels, periods.
  var format: SinkFormat
  /// How samples are stored.
  var encoding: String
  /// Whether a sound card plays the frames without a sound server between.
  var isHardware = false

  /// What an output granted.
  init(_ output: OpenedOutput) {
    name = output.name
    format = output.format
    encoding = output.encoding
    isHardware = output.isHardware
  }

  /// `default: 2 channels at 48000 Hz, float, periods of 240 in 960 frames`.
  var description: String {
    "\(name.printable): \(format.channelCount) channel\(format.channelCount == 1 ? "" : "s") at "
      + "\(Int(format.rate)) Hz, \(encoding), period \(format.periodSize), buffer \(format.bufferSize) frames"
  }

  /// Writes the figures into an object.
  func write(to entry: inout JSONObjectWriter) {
    entry.member("name", name)
    entry.member("rate", Int(format.rate))
    entry.member("channels", format.channelCount)
    entry.member("format", encoding)
    entry.member("periodLength", format.periodSize)
    entry.member("bufferLength", format.bufferSize)
    entry.member("isHardware", isHardware)
  }
}
