internal import HapticModel
internal import HapticRender
internal import PlaybackSessions

extension CompiledPattern {
  /// Generates the noise that a `noise` command requests, separately for each profile.
  ///
  /// - Parameters:
  ///   - command: A `noise` command.
  ///   - profiles: The profiles of the buses.
  ///   - rate: The sample rate in hertz.
  init(noise command: ServerCommand, profiles: [TransducerProfile], rate: Double)
    throws(CommandError)
  {
    var renderPlans: [RenderPlan] = []
    var durationSeconds = 0.0
    for profile in profiles {
      var signal = SampledSignal.noise(
        center: profile.frequency.hertz(atSharpness: command.numberValue(of: "SHARPNESS")),
        bandwidth: command.numberValue(of: "OCTAVES"), rate: rate,
        seed: UInt64(command.numberValue(of: "seed")))
      let amplitude = Float(
        profile.intensity.amplitude(atIntensity: command.numberValue(of: "INTENSITY")))
      for index in signal.samples.indices {
        signal.samples[index] *= amplitude
      }
      let layer = HapticComposition.Layer(HapticPattern(), signals: [signal])
      durationSeconds = signal.durationSeconds
      do {
        renderPlans.append(
          try RenderPlan(
            compiling: HapticComposition(layers: [layer]), profile: profile, rate: rate))
      } catch {
        throw CommandError(.invalidValue, "\(error)")
      }
    }
    self.init(name: "noise", plansByHapticBus: renderPlans, duration: durationSeconds)
  }
}
