internal import CMath
internal import HapticFormats
internal import HapticModel
internal import HapticRender
internal import Reading
internal import TransducerProfiles

extension Studio {
  /// A profile by its number among those that are shipped; the first where none has it.
  func profile(_ index: Int) -> TransducerProfile {
    profiles.indices.contains(index) ? profiles[index] : profiles.first ?? .phone
  }

  /// The profiles as JSON: name, what it is, and the frequencies of sharpness 0 and 1 as they are played.
  func listProfiles() -> [UInt8] {
    JSONWriter.list { list in
      for profile in profiles {
        let played = profile.bandMapped(rate: Self.usualRate).frequency
        list.object { object in
          object.member("name", profile.name)
          object.member("title", profile.hardware?.product ?? profile.name)
          object.member("summary", profile.summary)
          object.member("kind", profile.hardware == nil ? "mapping" : "transducer")
          object.member("low", played.low)
          object.member("high", played.high)
          object.member("hasHardware", profile.hardware != nil)
        }
      }
    }
  }

  /// The frequency that a profile plays a sharpness with.
  func hertz(profile index: Int, sharpness: Double) -> Double {
    profile(index).bandMapped(rate: Self.usualRate).frequency.hertz(atSharpness: min(max(sharpness, 0), 1))
  }

  /// The usual rate of rendering.
  static let usualRate = 48_000.0

  /// Compiles a composition for a profile; events whose sound file was not handed over are left out.
  func plan(of composition: HapticComposition, profile index: Int, rate: Double) throws(RenderError) -> RenderPlan {
    var composition = composition.linearized()
    var samples: [String: AudioBuffer] = [:]
    for layer in composition.layers.indices {
      composition.layers[layer].pattern.events.removeAll { event in
        guard let path = event.waveform?.path, event.kind.playsFile else { return false }
        guard let sound = sounds[path] else { return true }
        if samples[path] == nil { samples[path] = sound.buffer(rate: rate) }
        return false
      }
    }
    return try RenderPlan(compiling: composition, profile: profile(index), rate: rate, samples: samples)
  }

  /// Compiles what sounds of a slot; nil where it has nothing that can be compiled.
  func plan(_ slot: Int, profile: Int, rate: Double) -> RenderPlan? {
    guard let composition = slots[slot].composition else { return nil }
    return try? plan(of: composition, profile: profile, rate: rate)
  }

  /// Renders a slot as `temblor render` does by itself: one channel, with the silence in which its hardware comes to rest.
  func render(_ slot: Int, profile index: Int, rate: Double) -> [Float] {
    guard let plan = plan(slot, profile: index, rate: rate) else { return [] }
    let routing = OutputRouting().fitted(to: [profile(index)])
    let tail = FrameConversion.frame(seconds: routing.tail(rate: rate), rate: rate)
    let length = plan.length + tail
    let fade = min(FrameConversion.frame(seconds: OfflineRenderer.fade, rate: rate), length)
    var renderer = OfflineRenderer(
      plan: plan,
      settings: RenderSettings(routing: routing, length: length, fadeLength: max(min(fade, tail), min(48, length))))
    return renderer.samples()
  }

  /// The acceleration of a profile's transducer for what a slot drives it with, 1 for a full-scale sine at resonance;
  /// empty where that is not known.
  func acceleration(_ slot: Int, profile index: Int, rate: Double) -> [Float] {
    guard let hardware = profile(index).hardware, let model = hardware.model else { return [] }
    var simulation = TransducerSimulation(model, modes: hardware.modes, rate: rate)
    return render(slot, profile: index, rate: rate).map { simulation.acceleration(drive: $0) }
  }

  /// The samples between two times; silence where there are none.
  static func part(of samples: [Float], rate: Double, from start: Double, to end: Double) -> [Float] {
    let first = FrameConversion.frame(seconds: start, rate: rate)
    let last = max(first, min(FrameConversion.frame(seconds: end, rate: rate), first + longestPart))
    return (first..<last).map { samples.indices.contains(Int(clamping: $0)) ? samples[Int(clamping: $0)] : 0 }
  }

  /// The most samples of a part.
  private static let longestPart: Int64 = 1 << 24

  /// Where a column begins; of 64 bits, since the product may have more than a memory address.
  static func place(_ column: Int, of columns: Int, in count: Int) -> Int {
    Int(Int64(count) * Int64(column) / Int64(columns))
  }

  /// The least and the greatest sample of each of some columns, one behind the other.
  static func envelope(of samples: [Float], columns: Int) -> [Float] {
    guard !samples.isEmpty, columns > 0 else { return [] }
    return (0..<columns).flatMap { column -> [Float] in
      let start = Self.place(column, of: columns, in: samples.count)
      let end = max(start + 1, Self.place(column + 1, of: columns, in: samples.count))
      var (low, high) = (samples[start], samples[start])
      for sample in samples[start..<end] { (low, high) = (min(low, sample), max(high, sample)) }
      return [low, high]
    }
  }
}

/// Pictures of how much of each frequency a sound has over time.
enum Spectrogram {
  /// Seconds of the window, and the decibels of silence.
  private static let (window, silence) = (0.064, Float(-120))

  /// Decibels relative to full scale of each row of each column, the rows from 0 Hz up.
  ///
  /// Under Hann windows around the middle of each column; the sound is first taken to four times the highest frequency.
  static func decibels(of samples: [Float], rate: Double, columns: Int, rows: Int, upTo hertz: Double) -> [Float] {
    guard columns > 0, rows > 0, hertz > 0, !samples.isEmpty else { return [] }
    let lower = min(rate, 4 * hertz)
    let signal = SignalResampler.resampled(samples, from: rate, to: lower)
    let length = max(8, Int((window * lower).rounded()))
    let weights = (0..<length).map { Float(0.5 - 0.5 * cos(2 * .pi * (Double($0) + 0.5) / Double(length))) }
    let sum = weights.reduce(0, +)
    // Cosine and sine of each row, under the window; 1 for a full-scale sine.
    let waves = (0..<rows).flatMap { row -> [SIMD2<Float>] in
      let turns = hertz * (Double(row) + 0.5) / Double(rows) / lower
      return (0..<length).map { index in
        let angle = 2 * .pi * turns * Double(index)
        return SIMD2(Float(cos(angle)), Float(sin(angle))) * (2 * weights[index] / sum)
      }
    }
    var result: [Float] = []
    result.reserveCapacity(columns * rows)
    for column in 0..<columns {
      let start = Int((Double(column) + 0.5) / Double(columns) * Double(signal.count)) - length / 2
      let used = max(0, -start)..<max(max(0, -start), min(length, signal.count - start))
      for row in 0..<rows {
        var total = SIMD2<Float>()
        for index in used { total += waves[row * length + index] * signal[start + index] }
        let power = total.x * total.x + total.y * total.y
        result.append(power > 1e-12 ? Float(10 * log10(Double(power))) : silence)
      }
    }
    return result
  }
}
