internal import HapticModel
internal import HapticPlayback
internal import HapticRender
internal import TransducerProfiles

extension ListenSession {
  /// Noises that can play or wait at once; each has samples of its own.
  static let maximumNoiseCount = 16

  func start(_ noise: ListenCommand.Noise, _ piece: PatternLoader.CachedPattern) throws(ListenError) -> [ListenReply
    .Field]
  {
    try checkShare()
    guard voices.count(where: { $0.isNoise && $0.name != noise.name }) < Self.maximumNoiseCount else {
      throw ListenError(.busy, "\(Self.maximumNoiseCount) noises play or wait; stop one, or wait for its end")
    }
    return try translated { () throws(PlaybackError) in
      let player = try engine.player(for: piece.plans, duration: piece.duration)
      try player.loop(passCount: nil)
      let moment = moment(noise.start)
      let name = noise.name ?? newName("noise")
      _ = try start(player, as: name, at: moment, priority: noise.priority)
      let end = moment.frame + FrameConversion.frame(seconds: noise.duration, rate: engine.rate)
      try player.stop(at: .frame(end))
      if let voice = voices.last {
        voice.isNoise = true
        voice.note(end)
      }
      return [
        .pair("name", name), .number("time", Double(moment.frame) / engine.rate), .number("duration", noise.duration),
      ]
    }
  }
}

extension PatternLoader.CachedPattern {
  init(_ noise: ListenCommand.Noise, profiles: [TransducerProfile], rate: Double) throws(ListenError) {
    name = "noise"
    duration = 0
    plans = []
    for profile in profiles {
      var signal = SampledSignal.noise(
        center: profile.frequency.hertz(atSharpness: noise.sharpness), bandwidth: noise.bandwidth, rate: rate,
        seed: UInt64(noise.seed))
      let amplitude = Float(profile.intensity.amplitude(atIntensity: noise.intensity))
      for index in signal.samples.indices { signal.samples[index] *= amplitude }
      let layer = HapticComposition.Layer(HapticPattern(), signals: [signal])
      duration = signal.duration
      do {
        plans.append(try RenderPlan(compiling: HapticComposition(layers: [layer]), profile: profile, rate: rate))
      } catch { throw ListenError(.invalidValue, "\(error)") }
    }
  }
}
