import SoundFile
import Synchronization
import SystemSupport
import TestSupport
import Testing

@testable import CommandLineKit
@testable import HapticPlayback
@testable import PlaybackSessions
@testable import TemblorCommands

/// Recordings that reach the limit of `--record-limit` while playback continues.
@Suite struct LiveRecordingTests {
  private static let software = "Temblor 1.0"
  private let testFolder: TemporaryFolder
  private let device = DeviceSummary(
    OpenedOutput(
      sink: NullSink(SinkFormat(rate: 48_000, channelCount: 2, periodSize: 240, bufferSize: 960)),
      name: "nothing"))

  init() throws { testFolder = try TemporaryFolder() }

  @Test(arguments: [0.25, 0.5, 7]) func aRecordingEndsAtItsLimitToTheFrame(limit: Double) throws {
    let path = testFolder("heard.wav")
    let events = Mutex<[SinkEvent]>([])
    let recording = try LiveRecording(
      to: path, device: device, maximumSeconds: limit, software: Self.software
    ) { event in
      events.withLock { $0.append(event) }
    }
    // The 48 blocks of 999 frames last about a second. The recording buffer holds more.
    let block = (0..<(2 * 999)).map { Float($0 % 100) / 200 }
    for _ in 0..<48 {
      recording.recordingBuffer.write(block.span)
    }
    let (result, message) = recording.finishRecording(within: HangLimit.duration)
    let limitFrameCount = Int64(limit * 48_000)
    #expect(
      result
        == LiveRecording.Result(
          path: path, isComplete: true, frameCount: min(limitFrameCount, 48 * 999),
          droppedFrameCount: 0))
    #expect(message == nil)
    #expect(
      events.withLock { $0.map(\.text) }
        == (limit < 1 ? ["\(path): reached the limit of the recording; recording stopped"] : []))
  }

  /// The numbers of descriptors that were open for files of a folder, at each query of free space.
  private final class OpenDescriptorCounts: Sendable { let counts = Mutex<[Int]>([]) }

  /// Returns settings for files of 0.25 s.
  private func rotation(
    freeFraction: @escaping @Sendable (_ folder: String) -> Double = { _ in 0.05 }
  ) -> LiveRecording.RotationSettings {
    LiveRecording.RotationSettings(
      seconds: 0.25, freeFraction: freeFraction,
      now: { CalendarTime(secondsSince1970: 1_769_860_800) })
  }

  /// Returns settings for files of 0.25 s, on a disk that is full for the first queries.
  private func rotation(
    refusals: Int, openCounts: OpenDescriptorCounts
  ) -> LiveRecording.RotationSettings {
    rotation(
      freeFraction: { folder in
        let paths = ((try? FileSystem.visibleNames(in: "/proc/self/fd")) ?? []).compactMap { name in
          try? FileSystem.destinationPath(of: "/proc/self/fd/" + name)
        }
        return openCounts.counts.withLock { counts in
          counts.append(paths.count { $0.hasPrefix(folder + "/") })
          return counts.count > refusals ? 0.05 : 0.049
        }
      })
  }

  /// Writes frames whose values contain their index, in blocks that do not divide a file evenly.
  private func write(_ count: Int, to recordings: LiveRecording...) {
    for start in stride(from: 0, to: count, by: 999) {
      let block = (start..<min(start + 999, count)).flatMap { [Float($0) / 1e6, -Float($0) / 1e6] }
      for recording in recordings {
        recording.recordingBuffer.write(block.span)
      }
    }
  }

  @Test func filesFollowEachOtherWithoutAGap() throws {
    let events = Mutex<[String]>([])
    let singleFile = try LiveRecording(
      to: testFolder("whole.wav"), device: device, software: Self.software
    ) { event in
      events.withLock { $0.append(event.text) }
    }
    let rotatedFiles = try LiveRecording(
      to: testFolder("heard.wav"), device: device, rotation: rotation(), software: Self.software
    ) { event in
      events.withLock { $0.append(event.text) }
    }
    write(333_666, to: singleFile, rotatedFiles)
    for (recording, name) in [(singleFile, "whole.wav"), (rotatedFiles, "heard.wav")] {
      let (result, message) = recording.finishRecording(within: HangLimit.duration)
      #expect(
        result
          == LiveRecording.Result(
            path: testFolder(name), isComplete: true, frameCount: 333_666, droppedFrameCount: 0))
      #expect(message == nil)
    }
    #expect(events.withLock { $0 } == [])
    // The clock is constant, and no file replaces another.
    let names = try FileSystem.visibleNames(in: testFolder.path).sorted().dropLast()
    #expect(Array(names) == (0..<28).map { "heard-20260131-1200\($0 < 10 ? "0" : "")\($0).wav" })
    let sounds = try names.map { try Sound(contentsOf: testFolder($0)) }
    #expect(sounds.dropLast().map(\.frameCount) == Array(repeating: 12_000, count: 27))
    #expect(sounds.compactMap(\.truncation) == [])
    let samples = sounds.flatMap(\.interleaved)
    let expectedSamples = try Sound(contentsOf: testFolder("whole.wav")).interleaved
    #expect(samples.count == expectedSamples.count)
    let firstDifferentIndex = zip(samples.indices, expectedSamples).first { index, expected in
      samples[index] != expected
    }?.0
    #expect(firstDifferentIndex == nil)
  }

  @Test(arguments: ["wav", "flac"]) func theDiskKeepsItsReserve(ending: String) throws {
    let events = Mutex<[SinkEvent]>([])
    let path = testFolder("heard." + ending)
    let openCounts = OpenDescriptorCounts()
    let recording = try LiveRecording(
      to: path, device: device, rotation: rotation(refusals: 3, openCounts: openCounts),
      software: Self.software
    ) { event in
      events.withLock { $0.append(event) }
    }
    write(60_000, to: recording)
    let (result, message) = recording.finishRecording(within: HangLimit.duration)
    #expect(
      result
        == LiveRecording.Result(
          path: path, isComplete: false, frameCount: 24_000, droppedFrameCount: 0))
    #expect(message == "\(path): only 0.5 s were written: less than 5 % of the disk is free")
    // The space of a deleted file is free only if no descriptor is open.
    #expect(
      openCounts.counts.withLock { $0.prefix(5).map { $0 > 0 } } == [
        true, false, false, false, true,
      ])
    // Three files without space cause one message; the fourth one is written.
    #expect(
      events.withLock { $0.map(\.text) }
        == [
          "\(path): less than 5 % of the disk is free; recording pauses until the next file starts"
        ])
    let names = try FileSystem.visibleNames(in: testFolder.path).sorted()
    #expect(names == ["00", "01"].map { "heard-20260131-1200\($0).\(ending)" })
    let first = try Sound(contentsOf: testFolder(names[0]))
    #expect(first.interleaved.count == 2 * 12_000 && abs(first.interleaved[0] - 0.036) < 1e-6)
  }

  @Test func invalidLimitsAreRefused() throws {
    let environment = ScriptedEnvironment()
    let limits = ["0.5", "1441", "x"].flatMap {
      [["--record-limit", $0], ["--record-rotate", $0]]
    }
    for options in limits + [["--record-rotate", "10", "--record-limit", "60"]] {
      let options = ["--record", testFolder("a.wav")] + options
      #expect(throws: (any Error).self) {
        let arguments = try ListenCommand.definition().parseArguments(options)
        _ = try LiveOptions(arguments)
      }
    }
    #expect(environment.recordedTerminal.error == "")
  }
}
