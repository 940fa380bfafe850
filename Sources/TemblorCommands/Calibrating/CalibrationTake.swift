internal import CommandLineKit
internal import Glibc
import HapticPlayback
import HapticRender
import SoundFile
internal import SystemSupport
import TransducerCalibration

/// What a transducer is measured from: channels of a file, or of what was recorded just now.
struct CalibrationTake {
  /// What messages call it.
  let name: String
  /// The sensor's channel.
  let sensor: CalibrationRecording
  /// The channel that recorded the signal itself, where there is one.
  let reference: CalibrationRecording?
  /// The second of the recording at which the signal's first sample left the device, by its clock.
  let origin: Double?

  /// Reads or records what a command line names.
  init(_ arguments: ParsedArguments, options: SweepOptions, time: any TimeSource) throws {
    let path = arguments.value("RECORDING")
    let capture = arguments.value("--capture")
    guard (path == nil) != (capture == nil) else {
      throw UsageError(
        path == nil ? .missingValue : .remove,
        "use either RECORDING or '--capture'")
    }
    let channel = try arguments.int("--channel", in: OutputRouting.channelCounts)
    let reference = try arguments.int("--reference", in: OutputRouting.channelCounts)
    if let channel, channel == reference {
      throw UsageError(.invalidValue, "'--reference' and '--channel' must differ")
    }
    let sound: Sound
    if let path {
      for option in ["--device", "--play-channel", "--capture-channels"]
      where arguments.value(option) != nil {
        throw UsageError(.remove, "'\(option)' requires '--capture'")
      }
      name = path
      sound = try Self.read(path)
      origin = nil
    } else {
      let least = max(channel ?? 1, reference ?? 1)
      let count = try arguments.int("--capture-channels", in: OutputRouting.channelCounts) ?? least
      guard count >= least else {
        throw UsageError(
          .invalidValue, "channel \(least) is used, but '--capture-channels' is \(count)")
      }
      try options.checkLimits()
      let player = try SweepPlayer(arguments, options: options, time: time)
      let taken = try player.record(from: capture ?? "", channelCount: count)
      name = capture ?? ""
      sound = taken.sound
      origin = taken.origin
    }
    sensor = try Self.channel(channel ?? (reference == 1 ? 2 : 1), of: sound, name: name)
    if let reference {
      self.reference = try Self.channel(reference, of: sound, name: name)
    } else {
      self.reference = nil
    }
  }

  private static func read(_ path: String) throws -> Sound {
    let descriptor = try FileSystem.open(path)
    defer { close(descriptor) }
    return try Sound(readingDescriptor: descriptor, path: path)
  }

  private static func channel(
    _ number: Int, of sound: Sound, name: String
  ) throws -> CalibrationRecording {
    guard number <= sound.channelCount else {
      throw CalibrationRefusal(
        name: name,
        error: CalibrationError(
          kind: .unsuitableRecording,
          description: "has no channel \(number); it has only "
            + (sound.channelCount == 1 ? "one" : "\(sound.channelCount)")))
    }
    let samples = stride(
      from: number - 1, to: sound.frameCount * sound.channelCount, by: sound.channelCount
    ).map { sound.interleaved[$0] }
    return CalibrationRecording(samples: samples, rate: sound.rate)
  }
}

/// A recording that cannot tell.
struct CalibrationRefusal: Error, Equatable, CustomStringConvertible {
  /// What the user knows the recording by.
  let name: String
  /// Why it cannot.
  let error: CalibrationError

  var description: String { "\(name): \(error.description)" }
}
