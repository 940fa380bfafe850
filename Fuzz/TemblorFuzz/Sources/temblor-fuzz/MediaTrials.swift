import Glibc
import HapticModel
import HapticRender
import PatternComparison
import ReviewPages
import SignalAnalysis
import SoundFile
import TransducerCalibration

/// Decodes a text as a sound file, and plays it as the sound of an `AudioCustom` event.
struct SoundTrial {
  private static let pattern = HapticPattern(events: [
    HapticEvent(
      kind: .audioCustom, time: 0, duration: 0.01, waveform: AudioWaveform(path: "t"))
  ])

  let text: [UInt8]

  func run() {
    guard let file = unsafe tmpfile() else { fatalError("no temporary file") }
    defer { unsafe fclose(file) }
    let descriptor = unsafe fileno(file)
    guard unsafe write(descriptor, text, text.count) == text.count else {
      fatalError("the temporary file cannot be written")
    }
    lseek(descriptor, 0, SEEK_SET)
    do throws(SoundFileError) {
      let sound = try Sound(readingDescriptor: descriptor, path: "t")
      require(sound.channelCount > 0 && sound.rate > 0, "a sound of \(sound.channelCount) channels")
      require(sound.interleaved.count % sound.channelCount == 0, "a part of a frame")
      require(sound.interleaved.count <= Sound.maximumSampleCount, "a sound too long")
      guard sound.interleaved.count <= 65_536, sound.channelCount <= 8 else { return }
      try play(sound)
    } catch {
      requireOneLine(error.description)
    }
  }

  private func play(_ sound: Sound) throws(SoundFileError) {
    let other = try sound.resampled(to: 8_000, path: "t")
    guard other.interleaved.count <= 65_536 else { return }
    let samples = [
      "t": AudioBuffer(interleaved: other.interleaved, channelCount: other.channelCount)
    ]
    do throws(RenderError) {
      let plan = try RenderPlan(
        compiling: Self.pattern, profile: .phone, rate: 8_000, samples: samples)
      var rendering = OfflineRenderer(plan: plan)
      requireBelowCeiling(rendering.samples())
    } catch {
      requireOneLine(error.description)
    }
  }
}

/// Measures a recording of the calibration signal that a text has damaged, or that is the text.
struct CalibrationTrial {
  private static let signal = try? SweepSignal(bandHertz: 20...400, sweepSeconds: 0.5)
  private static let sweep = (try? signal?.samples(rate: 4_000, includesTones: false)) ?? []

  let text: [UInt8]

  func run() {
    guard let signal = Self.signal else { fatalError("no signal") }
    var samples = Self.sweep
    let rest = text.dropFirst()
    if text.first == 1 {
      samples = rest.map { Float(Int($0) - 128) / 128 }
    } else {
      // Four bytes are one damage: where, how long, what and how much.
      let bytes = Array(rest)
      for index in stride(from: 0, to: bytes.count - 3, by: 4) where !samples.isEmpty {
        damage(&samples, Array(bytes[index..<index + 4]))
      }
    }
    do throws(CalibrationError) {
      let recording = CalibrationRecording(samples: samples, sampleRate: 4_000)
      let found = try Calibration(measuring: recording, of: signal, acceptsPoorFit: true)
      let figures = [
        found.resonanceHertz, found.qualityFactor, found.fullScaleSineAmplitude,
        found.signalStartSeconds, found.resonanceIntervalHalfWidthFraction,
        found.qualityIntervalHalfWidthFraction, found.fitResidualDecibels,
        found.signalToNoiseDecibels,
        found.clockErrorPartsPerMillion,
      ]
      require(figures.allSatisfy(\.isFinite), "figures of \(figures)")
      require(
        signal.bandHertz.contains(found.resonanceHertz),
        "a resonance at \(found.resonanceHertz) Hz")
      require(found.qualityFactor > 0, "a quality of \(found.qualityFactor)")
    } catch {
      requireOneLine(error.description)
    }
  }

  private func damage(_ samples: inout [Float], _ how: [UInt8]) {
    let start = Int(how[0]) * samples.count / 256
    let end = min(samples.count, start + 1 + Int(how[1]) * samples.count / 256)
    let amount = Float(how[3]) / 64
    for index in start..<end {
      switch how[2] % 8 {
      case 0: samples[index] *= amount
      case 1: samples[index] = min(amount / 16, max(-amount / 16, samples[index]))
      case 2: samples[index] += amount / 4
      case 3: samples[index] = amount > 3.9 ? .nan : amount / 4
      case 4: samples[index] = -samples[index]
      case 5: samples[index] += amount * Float(index % Int(how[3] | 1)) / 1_024
      case 6 where index > 0: samples[index] += samples[index - 1] * min(0.9, amount / 4)
      default: break
      }
    }
    if how[2] == 255 { samples.removeSubrange(start..<end) }
  }
}

/// Makes a comparison report of takes whose texts come from a text.
struct ReportTrial {
  /// Signs that open an element, in a page whose texts hold none.
  private static let plainCount = openings(in: page("x"))

  let text: [UInt8]

  func run() {
    let page = Self.page(String(decoding: text, as: UTF8.self))
    let count = Self.openings(in: page)
    require(count == Self.plainCount, "\(count) elements instead of \(Self.plainCount)")
    let isText = String(validating: page, as: UTF8.self) != nil
    require(isText, "a page that is not UTF-8")
  }

  private static func openings(in page: [UInt8]) -> Int {
    page.count { $0 == UInt8(ascii: "<") }
  }

  private static func page(_ text: String) -> [UInt8] {
    // In front, so that no text is empty, and behind, so that markup in it begins in text.
    let text = "x" + text + "x"
    let takes = [take(text, strength: 0.5), take(text + "y", strength: 1)]
    do {
      return try ComparisonReport(generator: text, command: text).html(takes: takes)
    } catch {
      fatalError("no page: \(error)")
    }
  }

  private static func take(_ text: String, strength: Float) -> Take {
    let pattern = HapticPattern(events: [
      HapticEvent(kind: .hapticTransient, time: 0, parameters: [.hapticIntensity: strength])
    ])
    do {
      let plan = try RenderPlan(compiling: pattern, profile: .phone, rate: 8_000)
      var rendering = OfflineRenderer(plan: plan)
      return Take(
        name: text, source: .pattern(HapticComposition(pattern)),
        signal: Signal(channels: [rendering.samples()], rate: 8_000), profile: .phone, text: text,
        feeling: text)
    } catch {
      fatalError("no sound: \(error)")
    }
  }
}
