public import HapticModel

extension RenderPlan {
  /// Throws an error if a sample rate isn't supported.
  static func validate(rate: Double) throws(RenderError) {
    guard supportedSampleRates.contains(rate) else {
      throw RenderError(
        kind: .rateOutOfRange,
        description: invalidRateMessage(rate, supportedRates: supportedSampleRates))
    }
  }

  private static func invalidRateMessage(
    _ rate: Double, supportedRates rates: ClosedRange<Double>
  ) -> String {
    "invalid sample rate \(rate) Hz: expected \(Int(rates.lowerBound)) to \(Int(rates.upperBound))"
  }

  /// Returns a file path with its control characters escaped, for a single-line message.
  static func escapedPath(_ path: String) -> String {
    path.unicodeScalars.map { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: scalar.escaped(asASCII: true)
      default: String(scalar)
      }
    }.joined()
  }

  /// Throws an error for a composition that cannot be rendered.
  ///
  /// Its times must be representable in frames, and it must not have too many layers.
  static func validate(_ composition: HapticComposition) throws(RenderError) {
    let layerCount = composition.layers.count
    guard layerCount <= maximumLayerCount else {
      throw RenderError(
        kind: .tooManyLayers,
        description: "the composition has \(layerCount) layers; the maximum is \(maximumLayerCount)"
      )
    }
    for (layerIndex, layer) in composition.layers.enumerated() {
      let namedLayer = layerCount > 1 ? layerIndex : nil
      for (index, event) in layer.pattern.events.enumerated() {
        try validate(
          event, EventReference(layerIndex: layerIndex, eventIndex: index), layer: namedLayer)
      }
      for (index, parameter) in layer.pattern.parameters.enumerated() {
        try validate(controlTime: parameter.time, of: "parameter", index, layer: namedLayer)
      }
      for (index, curve) in layer.pattern.curves.enumerated() {
        try validate(controlTime: curve.time, of: "curve", index, layer: namedLayer)
      }
      try validate(layer.signals, layer: namedLayer)
    }
  }

  private static func validate(_ signals: [SampledSignal], layer: Int?) throws(RenderError) {
    var totalSignalSeconds = 0.0
    for (index, signal) in signals.enumerated() {
      func validationError(_ kind: RenderError.Kind, _ text: String) -> RenderError {
        RenderError(
          kind: kind, description: "\(elementName("signal", index, layer: layer)): \(text)")
      }
      guard signal.startSeconds.isFinite, signal.startSeconds >= 0 else {
        throw validationError(.timeOutOfRange, "time is negative or not finite")
      }
      let rates = SampledSignal.supportedSampleRates
      guard rates.contains(signal.sampleRate) else {
        throw validationError(
          .rateOutOfRange, invalidRateMessage(signal.sampleRate, supportedRates: rates))
      }
      totalSignalSeconds += signal.durationSeconds
      guard signal.startSeconds + signal.durationSeconds <= FrameConversion.maximumSeconds,
        totalSignalSeconds <= SampledSignal.maximumTotalSeconds
      else {
        let maximum = Int(SampledSignal.maximumTotalSeconds)
        throw validationError(
          .patternTooLong,
          "the signals of a layer can last \(maximum) s in total, within one day (86400 s)")
      }
    }
  }

  private static func validate(
    _ event: HapticEvent, _ reference: EventReference, layer: Int?
  ) throws(RenderError) {
    func validationError(_ kind: RenderError.Kind, _ text: String) -> RenderError {
      RenderError(
        kind: kind, eventReference: reference,
        description: elementName("event", reference.eventIndex, layer: layer) + text)
    }
    let eventDurationSeconds = event.duration ?? 0
    guard event.time.isFinite, event.time >= 0, eventDurationSeconds.isFinite,
      eventDurationSeconds >= 0
    else {
      throw validationError(.timeOutOfRange, ": time or duration is negative or NaN")
    }
    guard event.time + eventDurationSeconds <= FrameConversion.maximumSeconds else {
      throw validationError(
        .patternTooLong,
        " ends at \(event.time + eventDurationSeconds) s; patterns are limited to one day (86400 s)"
      )
    }
  }

  /// Throws an error if a control starts after the maximum time. It may start before the pattern.
  private static func validate(
    controlTime time: Double, of noun: String, _ index: Int, layer: Int?
  ) throws(RenderError) {
    func validationError(_ kind: RenderError.Kind, _ text: String) -> RenderError {
      RenderError(kind: kind, description: elementName(noun, index, layer: layer) + text)
    }
    guard time.isFinite else { throw validationError(.timeOutOfRange, ": time is NaN or infinite") }
    guard time <= FrameConversion.maximumSeconds else {
      throw validationError(
        .patternTooLong, " starts at \(time) s; patterns are limited to one day (86400 s)")
    }
  }

  /// Returns the name of an element for messages, such as `layer 2, event 5`. The layer is omitted
  /// if it is nil, and indices count from 1.
  static func elementName(_ noun: String, _ index: Int, layer: Int?) -> String {
    "\(layer.map { "layer \($0 + 1), " } ?? "")\(noun) \(index + 1)"
  }
}

/// An error that prevents the compilation of a composition.
public struct RenderError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The kind of an error.
  public enum Kind: String, Sendable {
    /// A sample rate outside 8–192 kHz.
    case rateOutOfRange
    /// A time or value that isn't finite, or a negative time or duration.
    case timeOutOfRange
    /// An event that ends more than a day after the start.
    case patternTooLong
    /// A sound file that the pattern names but the caller didn't provide.
    case sampleMissing
    /// A composition of more layers than can be compiled.
    case tooManyLayers
  }

  /// The kind of the error, which determines the remedy.
  public var kind: Kind
  /// The event that can't be compiled, or nil if the error concerns no single event.
  public var eventReference: EventReference?
  /// A one-line message for the user.
  public var description: String

  /// Creates an error of a kind, with a one-line message.
  ///
  /// - Parameters:
  ///   - kind: The kind of the error.
  ///   - event: The event that can't be compiled, or nil.
  ///   - description: A one-line message for the user.
  public init(kind: Kind, eventReference event: EventReference? = nil, description: String) {
    self.kind = kind
    self.eventReference = event
    self.description = description
  }
}
