internal import Glibc
internal import HapticOutputs
package import HapticPlayback
internal import HapticRender
internal import SoundFile
package import SystemSupport

/// A sound file that records the output.
/// It has its name and a valid header from the start, so that a killed process or a power failure
/// loses at most a second.
package final class LiveRecording {
  package struct Result: Equatable, Sendable {
    package var path: String
    package var isComplete: Bool
    package var frameCount: Int64
    /// The number of frames that were dropped because the disk was too slow.
    package var droppedFrameCount: Int64

    package var jsonFields: JSONObject {
      [
        "file": path, "complete": isComplete, "frames": frameCount,
        "droppedFrames": droppedFrameCount,
      ]
    }
  }

  /// The settings for splitting a recording into files, for installations that record for months.
  package struct RotationSettings {
    /// The duration of each file, in seconds.
    package var fileDurationSeconds: Double
    /// The fraction of the disk that stays free, 0 to 1.
    package var minimumFreeDiskFraction: Double
    /// A closure that returns the free fraction of a folder's disk, 0 to 1.
    package var freeDiskFraction: @Sendable (_ folder: String) -> Double
    package var now: @Sendable () -> CalendarTime

    package init(
      seconds: Double, reservedFraction: Double = 0.05,
      freeFraction: @escaping @Sendable (_ folder: String) -> Double = FileSystem.freeDiskFraction,
      now: @escaping @Sendable () -> CalendarTime = { .now }
    ) {
      self.fileDurationSeconds = seconds
      self.minimumFreeDiskFraction = reservedFraction
      self.freeDiskFraction = freeFraction
      self.now = now
    }

    /// Returns an unused path with the date and time inserted before the extension.
    fileprivate func nextPath(after path: String) -> String {
      var time = now()
      while true {
        let stem = FileSystem.fileStem(of: path)
        let name =
          "\(stem)-\(time.fileNameText)\(FileSystem.fileName(of: path).dropFirst(stem.count))"
        let next = FileSystem.joinPath(FileSystem.folderPath(of: path), name)
        if FileSystem.entryKind(at: next) == .missing { return next }
        time.secondsSince1970 += 1
      }
    }
  }

  /// The current and the following files of a recording. They belong to the writing thread until
  /// that thread has ended.
  private final class RecordingFiles: @unchecked Sendable {
    private static let missingDescriptorReason =
      "too many open files; close some, or raise the limit with 'ulimit -n'"

    let path: String
    /// The settings for splitting the recording into files, or nil for a single file.
    let fileRotationSettings: RotationSettings?
    private var file: AtomicFileWriter?
    /// A duplicate of the file's descriptor, so that a write that hangs never reaches another file
    /// that reuses the descriptor.
    private(set) var descriptor: Int32 = -1
    private var isFileCommitted = false
    /// The path of the current file.
    private var currentPath = ""

    init(_ path: String, _ rotation: RotationSettings?) throws(FileError) {
      self.path = path
      self.fileRotationSettings = rotation
      try openFile()
    }

    private func openFile() throws(FileError) {
      currentPath = fileRotationSettings?.nextPath(after: path) ?? path
      let next = try AtomicFileWriter(currentPath)
      descriptor = fcntl(next.descriptor, F_DUPFD_CLOEXEC, 0)
      guard descriptor >= 0 else { throw FileError(currentPath, Self.missingDescriptorReason) }
      file = consume next
      isFileCommitted = false
    }

    /// Gives the current file its name after its header has been written.
    func commitFile() throws(FileError) {
      guard !isFileCommitted else { return }
      try file?.commit()
      isFileCommitted = true
    }

    func rotateFile(isDue: Bool) throws(SoundFileError) -> Int32 {
      guard let fileRotationSettings else { return descriptor }
      do throws(FileError) {
        if isDue {
          try finishFile()
        }
        guard
          fileRotationSettings.freeDiskFraction(FileSystem.folderPath(of: path))
            >= fileRotationSettings.minimumFreeDiskFraction
        else {
          let percent = NumberFormatting.roundedText(
            100 * fileRotationSettings.minimumFreeDiskFraction, places: 1)
          throw FileError(path, "less than \(percent) % of the disk is free")
        }
        if isDue {
          try openFile()
        } else {
          try commitFile()
        }
        return descriptor
      } catch {
        throw SoundFileError(kind: .systemRefused, path: error.path, description: error.reason)
      }
    }

    /// Closes the file, so that deleting it frees its space. With rotation, an empty file has no
    /// name and is omitted.
    func finishFile(isKept: Bool = true) throws(FileError) {
      defer {
        file = nil
        if descriptor >= 0 {
          close(descriptor)
        }
        descriptor = -1
        isFileCommitted = false
      }
      if isFileCommitted, !isKept {
        unsafe unlink(try FileSystem.destinationPath(of: currentPath))
      }
    }
  }

  /// The sample format of recordings. 24 bits are finer than any converter, and every file type
  /// supports them.
  private static let sampleFormat = SampleFormat.s24

  package let recordingBuffer: RecordingBuffer
  private let path: String
  private let sampleRateHertz: Double
  private let writer: RecordingWriter
  private let recordingFiles: RecordingFiles

  /// Creates the file.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - device: The device, which determines the format.
  ///   - seconds: The maximum duration in seconds; nil for no limit.
  ///   - rotation: The division into files; nil for a single file.
  ///   - software: The name and version of the program, for the tags of the file.
  ///   - failureHandler: A closure that receives failures on another thread.
  package init(
    to path: String, device: DeviceSummary, maximumSeconds seconds: Double? = nil,
    rotation: RotationSettings? = nil, software: String,
    failureHandler: @escaping @Sendable (SinkEvent) -> Void
  ) throws {
    self.path = path
    sampleRateHertz = device.format.rate
    recordingBuffer = RecordingBuffer(device.format)
    let recordingFiles = try RecordingFiles(path, rotation)
    self.recordingFiles = recordingFiles
    let rotateFile: RecordingWriter.FileRotation = { isDue throws(SoundFileError) in
      try recordingFiles.rotateFile(isDue: isDue)
    }
    let failureConsequence =
      rotation == nil ? "recording stopped" : "recording pauses until the next file starts"
    writer = try RecordingWriter(
      recordingBuffer, rate: Int(device.format.rate), to: recordingFiles.descriptor, path: path,
      storedAs: SoundFileFormat(
        container: SoundFileFormat.container(ofName: path) ?? .wav,
        sampleFormat: Self.sampleFormat),
      maximumFrameCount: (rotation?.fileDurationSeconds ?? seconds).map {
        Int64($0 * device.format.rate)
      },
      tags: SoundFileTags(
        title: FileSystem.fileStem(of: path), software: software,
        comment: "recorded, rendering model \(RenderPlan.renderingModelVersion)"),
      failureHandler: {
        failureHandler(
          SinkEvent(.degraded, text: "\(path): \($0.description); \(failureConsequence)"))
      },
      rotateFile: rotation == nil ? nil : rotateFile)
    if rotation == nil {
      try recordingFiles.commitFile()
    }
  }

  /// Returns whether a recording may be written to a path, because no file exists there or this
  /// program made the file. The tags at the start of a file identify the program; W64 has no tags.
  package static func isReplaceableRecording(_ path: String) -> Bool {
    guard FileSystem.entryKind(at: path) == .file,
      let descriptor = try? FileSystem.openForReading(path)
    else {
      return true
    }
    defer { close(descriptor) }
    var headBytes: [UInt8] = []
    _ = try? FileSystem.appendBytes(to: &headBytes, 65_536, of: descriptor, name: path)
    return headBytes.isEmpty
      || headBytes.indices.contains { headBytes[$0...].starts(with: "Temblor ".utf8) }
  }

  /// Completes the file after playback has ended.
  ///
  /// - Parameter limit: The timeout for the disk.
  /// - Returns: The result, and a message for the user if one is necessary.
  package func finishRecording(within limit: Duration) -> (result: Result, message: String?) {
    guard let writingOutcome = writer.finish(within: limit) else {
      return (
        Result(path: path, isComplete: false, frameCount: 0, droppedFrameCount: 0),
        "\(path.printable): the end may be missing; the disk does not respond"
      )
    }
    var recordingResult = Result(
      path: path, isComplete: false, frameCount: writingOutcome.frameCount,
      droppedFrameCount: writingOutcome.droppedFrameCount)
    // A file that reached its own limit is complete. After any other failure, the written part is
    // kept.
    let writeFailure = writingOutcome.failure.flatMap { $0.kind == .tooLong ? nil : $0 }
    if let writeFailure, writingOutcome.frameCount == 0 {
      try? recordingFiles.finishFile(isKept: false)
      return (
        recordingResult, "\(path.printable): nothing was written: \(writeFailure.description)"
      )
    }
    do {
      try recordingFiles.finishFile()
    } catch {
      return (recordingResult, error.description)
    }
    if let writeFailure {
      let secondsText = NumberFormatting.roundedText(
        Double(writingOutcome.frameCount) / sampleRateHertz, places: 1)
      let which = recordingFiles.fileRotationSettings == nil ? "the first " : ""
      return (
        recordingResult,
        "\(path.printable): only \(which)\(secondsText) s were written: \(writeFailure.description)"
      )
    }
    recordingResult.isComplete = true
    guard writingOutcome.droppedFrameCount > 0 else { return (recordingResult, nil) }
    let lostSecondsText = NumberFormatting.roundedText(
      Double(writingOutcome.droppedFrameCount) / sampleRateHertz, places: 3)
    return (
      recordingResult,
      "\(path.printable): \(lostSecondsText) s of audio lost; the disk was too slow"
    )
  }
}
