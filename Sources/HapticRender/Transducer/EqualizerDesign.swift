/// The filter that makes a transducer answer as a better damped one would.
///
/// It undoes the resonance and puts a broader one in its place. So it flattens the response, kicks at
/// onsets, and brakes what would ring on after them, for everything that is played.
public struct EqualizerDesign: Equatable, Sendable {
  /// The resonance that is undone.
  public let model: TransducerModel
  /// The resonance that appears instead.
  public let apparent: TransducerModel
  /// The factor at high frequencies, by which the drive nowhere rises above the law's boost.
  public let gain: Double

  /// Designs the filter behind a high-pass.
  ///
  /// Below resonance the drive must rise to flatten, so the resonance is lowered towards the lowest
  /// frequency, by half of the boost's decibels at most.
  init(
    _ model: TransducerModel, law: DriveSettings, lowest: Double, highPass: Biquad, rate: Double
  ) {
    let boost = raised(10, to: law.boost / 20)
    let resonance = model.resonance
    let quality = min(model.quality, max(0.5.squareRoot(), model.quality / law.damping))
    let lowered = min(max(lowest, resonance / boost.squareRoot()), resonance)
    let apparent = TransducerModel(resonance: lowered, quality: quality)
    self.model = model
    self.apparent = apparent
    let unscaled = Self.filter(from: model, to: apparent, gain: 1, rate: rate)
    func response(_ hertz: Double) -> Double {
      highPass.response(atHertz: hertz, rate: rate) * unscaled.response(atHertz: hertz, rate: rate)
    }
    let greatest = Self.greatest(of: response, near: lowered, below: rate / 2)
    // At resonance, where it is loudest by itself, it becomes no louder.
    gain = min(boost / greatest, 1 / response(resonance))
  }

  /// The filter at a frame rate.
  func filter(rate: Double) -> Biquad {
    Self.filter(from: model, to: apparent, gain: gain, rate: rate)
  }

  /// The greatest value of a response that has its peak near a frequency or somewhere broad.
  private static func greatest(
    of response: (Double) -> Double, near peak: Double, below highest: Double
  ) -> Double {
    let ratio = raised(highest, to: 1 / 64)
    let points = [peak] + (0...64).map { raised(ratio, to: Double($0)) }
    let best = points.max { response($0) < response($1) } ?? peak
    var low = best / ratio
    var high = min(best * ratio, highest)
    // Each step keeps the two thirds that hold the top.
    for _ in 0..<24 {
      let third = (high - low) / 3
      if response(low + third) < response(high - third) { low += third } else { high -= third }
    }
    return max(response(best), response((low + high) / 2))
  }

  private static func filter(
    from model: TransducerModel, to apparent: TransducerModel, gain: Double, rate: Double
  ) -> Biquad {
    Biquad(
      gain: gain, undoing: Biquad.Resonance(model, rate: rate),
      making: Biquad.Resonance(apparent, rate: rate))
  }
}
