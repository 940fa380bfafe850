import ComparisonFixtures
import Glibc
import HapticModel
import PatternComparison
import RecordingAnalysis
import SignalAnalysis
import SoundFile
import Testing

/// Recordings of a pattern with one known property each.
struct RecordingPairTests {
  /// Returns a recording of a pattern with leading silence and noise.
  private func recording(
    _ pattern: HapticPattern, delay: Double = 0.4, noise: Double = -50, seed: UInt64 = 4
  ) throws
    -> Take
  {
    var generator = LinearCongruentialGenerator(seed: seed)
    let recordingCase = RecordingCase(delay: delay, noise: noise)
    return sound([recordingCase.samples(of: try take(pattern).signal.mono, using: &generator)])
  }

  private func stretchedPattern(_ factor: Double) -> HapticPattern {
    fiveTapPattern.with {
      for index in $0.events.indices {
        $0.events[index].time *= factor
      }
    }
  }

  @Test(arguments: [-120.0, -50]) func tempoOfASoundIsReported(_ noise: Double) throws {
    let comparison = Comparison(
      try take(fiveTapPattern), try recording(stretchedPattern(1.015), noise: noise))
    let tempo = try #require(comparison.differences.first { $0.kind == .tempo })
    #expect(abs(tempo.amount - 1.5) < 0.05)
    #expect(abs((tempo.maximumShiftSeconds ?? 0) - 0.0153) < 0.001)
    #expect(comparison.differences.allSatisfy { $0.isOverall }, "\(comparison.sentences)")
    #expect(!comparison.isEqual(within: Tolerance(decibels: 1, seconds: 0.005, percent: 3)))
  }

  /// Lossy coding adds some sound before each event.
  @Test func preEchoIsNoTimingError() throws {
    let take = try take(fiveTapPattern)
    var pathTemplate = Array("/tmp/temblor-XXXXXX".utf8CString)
    let descriptor = unsafe mkstemp(&pathTemplate)
    defer {
      close(descriptor)
      _ = unsafe unlink(pathTemplate)
    }
    let samples = [Float](repeating: 0, count: 9_600) + take.signal.mono
    var writer = try SoundFileWriter(
      descriptor: descriptor, path: "a.ogg",
      format: SoundFileFormat(container: .ogg, sampleFormat: .s16), rate: 48_000,
      channelCount: 1, frameCount: Int64(samples.count))
    try writer.write(samples.span)
    try writer.close()
    lseek(descriptor, 0, SEEK_SET)
    let decodedSamples = try Sound(readingDescriptor: descriptor, path: "a.ogg").interleaved
    #expect(decodedSamples != samples)
    let comparison = Comparison(take, sound([decodedSamples]))
    let timeDifferences = comparison.differences.filter { $0.kind == .time }
    #expect(
      timeDifferences.count == 1 && timeDifferences[0].isOverall
        && abs(timeDifferences[0].amount - 0.2) < 2e-4)
    #expect(comparison.differences.allSatisfy { $0.isOverall }, "\(comparison.sentences)")
  }

  @Test func delayBeyondTheSearchIsReported() throws {
    let reference = try take(fiveTapPattern)
    let lateRecording = try recording(fiveTapPattern, delay: 1.5)
    let options = ComparisonOptions(searchSeconds: 0.5)
    #expect(
      Comparison(reference, lateRecording, options: options).sentences == [
        """
        B does not contain A within −1 to 0.5 s; trim the start, or increase the search range; 5 of \
        5 onsets are within 6 ms of their times.
        """
      ])
    let fullSearch = Comparison(reference, lateRecording)
    #expect(fullSearch.recordingMatch?.outcome == .found)
    #expect(abs((fullSearch.recordingMatch?.delaySeconds ?? 0) - 1.5) < 1e-4)
  }

  @Test func recordingOfAnotherPatternDoesNotMatch() throws {
    let otherPattern = HapticPattern(events: [hum(0, 1.3, intensity: 0.9, sharpness: 0.9)])
    let comparison = Comparison(try take(fiveTapPattern), try recording(otherPattern))
    #expect(comparison.recordingMatch?.outcome != .found)
    #expect(comparison.differences.count == 1, "\(comparison.sentences)")
    #expect(!comparison.isEqual(within: Tolerance(decibels: 99, seconds: 99, percent: 99)))
  }

  /// If the reference is the recording, the differences are reversed.
  @Test func patternIsComparedWithItsRecordingAsReference() throws {
    let comparison = Comparison(
      try recording(fiveTapPattern), try take(fiveTapPattern.with { $0.events.remove(at: 3) }))
    #expect(comparison.sentences.contains("B as a whole starts 400 ms earlier."))
    #expect(
      comparison.sentences.contains { $0.hasPrefix("A has noise at −5") }, "\(comparison.sentences)"
    )
    let missing = try #require(comparison.differences.first { $0.kind == .missing })
    #expect(abs(missing.timeRange.lowerBound - 1.15) < 0.01)
    #expect(comparison.differences.count { !$0.isOverall } == 1)
  }

  /// Times are those of the files, regardless of alignment.
  @Test func timesAreThoseOfTheFiles() throws {
    let moved = fiveTapPattern.with { $0.events[2].time += 0.02 }
    let comparison = Comparison(try take(fiveTapPattern), try recording(moved))
    let timeDifference = try #require(
      comparison.differences.first { $0.kind == .time && !$0.isOverall })
    #expect(timeDifference.timeRange.lowerBound == 0.5 && timeDifference.referenceValue == 0.5)
    #expect(abs((timeDifference.candidateValue ?? 0) - 0.92) < 1e-3)
    #expect(timeDifference.sentence == "B's third transient starts 20 ms later, at 0.92 s.")
  }

  @Test func soundWithoutAPatternIsFoundInItsRecording() throws {
    let comparison = Comparison(try take(fiveTapPattern).recorded(), try recording(fiveTapPattern))
    #expect(comparison.recordingMatch?.outcome == .found)
    #expect(comparison.differences.allSatisfy { $0.isOverall }, "\(comparison.sentences)")
    #expect(comparison.sentences.contains("B as a whole starts 400 ms later."))
  }

  @Test(arguments: [50.0, 60]) func humOfTheMainsIsMeasured(_ mainsHertz: Double) throws {
    let pattern = try take(fiveTapPattern)
    var samples =
      [Float](repeating: 0, count: 19_200) + pattern.signal.mono
      + [Float](repeating: 0, count: 9_600)
    var generator = LinearCongruentialGenerator(seed: 2)
    for index in samples.indices {
      let phase = 2 * .pi * mainsHertz * Double(index) / 48_000
      samples[index] += Float(0.003 * sin(phase) + 0.001 * sin(3 * phase))
      samples[index] += Float.random(in: -0.001...0.001, using: &generator)
    }
    let match = try #require(Comparison(pattern, sound([samples])).recordingMatch)
    #expect(match.mainsHertz == mainsHertz && !match.humHertz.isEmpty)
    for componentHertz in match.humHertz {
      #expect(
        abs(componentHertz - mainsHertz * (componentHertz / mainsHertz).rounded()) < 0.2,
        "\(componentHertz)")
    }
  }
}
