import HapticRender

extension TransducerProfile {
  /// A shaker of so little power and room that everything that protects it acts.
  static let weakShaker = TransducerProfile(
    name: "weak shaker", summary: "", frequency: FrequencyMapping(low: 60, high: 120),
    hardware: TransducerHardware(product: "weak shaker", resonance: 80, quality: 5, power: 1),
    amplifier: AmplifierParameters(power: 4_000))
}
