internal import Glibc
import HapticFormats
import ReviewPages
import HapticModel
import HapticRender
internal import PatternWorkflows
import SignalAnalysis
import SoundFile
internal import SystemSupport

/// One of the things that are listened to in turn: a pattern that was read, or a recording.
struct AuditionTake: Sendable {
  enum Content: Sendable {
    case pattern(LoadedPattern)
    case recording(Sound)
  }

  let name: String
  /// What an output made from it is called, without folder and ending.
  let stem: String
  let content: Content
  /// The SHA-256 of its file.
  let hash: String

  /// Reads a pattern or a sound file.
  ///
  /// - Throws: `InputError`, `FileError` or `SoundFileError`.
  init(_ input: TakeInput, reading: ReadingOptions) throws {
    name = input.name
    stem = FileSystem.stem(of: input.outputStem)
    switch input {
    case .pattern(let pattern):
      let loaded = try LoadedPattern(pattern, reading: reading)
      content = .pattern(loaded)
      hash = SHA256.hash(of: loaded.file.bytes)
    case .sound(let path):
      let (sound, hash) = try Self.read(path)
      content = .recording(sound)
      self.hash = hash
    }
  }

  var channelCount: Int? {
    switch content {
    case .pattern: nil
    case .recording(let sound): sound.channelCount
    }
  }

  private static func read(_ path: String) throws -> (Sound, hash: String) {
    let descriptor = try FileSystem.open(path)
    defer { close(descriptor) }
    var hash = SHA256()
    var block = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe Glibc.read(descriptor, &block, block.count)
      guard count > 0 else { break }
      hash.add(Array(block[..<count]))
    }
    lseek(descriptor, 0, SEEK_SET)
    let sound = try Sound(readingDescriptor: descriptor, path: path)
    guard sound.frameCount > 0 else { throw FileError(path, "contains no audio") }
    return (sound, hash.finish())
  }
}
