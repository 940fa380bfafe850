/// A composition: layers of haptic patterns that play together.
///
/// Every format is read into a composition. Parameters and curves act only on the events of their
/// own layer. An AHAP file has a single layer.
public struct HapticComposition: Equatable, Sendable {
  /// A haptic pattern and its sampled signals, optionally assigned to a body location.
  public struct Layer: Equatable, Sendable {
    /// The events, with the parameters and curves that act on them.
    public var pattern: HapticPattern
    /// The sampled signals that play together with the events.
    public var signals: [SampledSignal]
    /// The name of the layer in the file, or an empty string.
    public var name: String
    /// The body location of the layer; nil for every location.
    public var bodyLocation: BodyLocation?
    /// The frequency scale of the layer's sharpness in hertz, for haptic events and their control.
    ///
    /// The scale is nil if the profile of the transducer maps sharpness to frequency.
    ///
    /// With a scale, sharpness is not limited to 0…1, and a transducer plays every frequency that
    /// it reproduces as it is.
    public var sharpnessScale: SharpnessScale?

    /// Creates a layer.
    ///
    /// - Parameters:
    ///   - pattern: The events and controls.
    ///   - signals: The sampled signals.
    ///   - name: The name in the file, or an empty string.
    ///   - bodyLocation: The location at which the layer is felt, or nil for every location.
    ///   - sharpnessScale: The scale on which sharpness denotes hertz, or nil.
    public init(
      _ pattern: HapticPattern, signals: [SampledSignal] = [], name: String = "",
      bodyLocation: BodyLocation? = nil, sharpnessScale: SharpnessScale? = nil
    ) {
      self.pattern = pattern
      self.signals = signals
      self.name = name
      self.bodyLocation = bodyLocation
      self.sharpnessScale = sharpnessScale
    }

    /// Returns true if the layer is felt at a body location.
    ///
    /// - Parameter location: The location, or nil for every location together.
    public func isFelt(at location: BodyLocation?) -> Bool {
      guard let location, let bodyLocation else { return true }
      return bodyLocation.isSameLocation(as: location)
    }

    /// A Boolean value that indicates whether the layer has haptic events or sampled signals.
    var hasHaptics: Bool {
      !signals.isEmpty || pattern.events.contains { $0.kind.isHaptic }
    }

    /// A Boolean value that indicates whether sharpness is limited to 0…1.
    ///
    /// Sharpness is limited if the layer doesn't state frequencies in hertz.
    public var hasClampedSharpness: Bool { sharpnessScale == nil }
  }

  /// A part of the body or an actuator of a device, numbered as in the file.
  public struct BodyLocation: Hashable, Sendable {
    /// The number of the location, starting at 1.
    public var number: Int
    /// The number of locations that the file addresses.
    public var addressedLocationCount: Int
    /// The name of the body location in the file, or an empty string.
    public var name: String

    /// Creates a body location from its number, the number of locations, and a name.
    ///
    /// - Parameters:
    ///   - number: The number, starting at 1.
    ///   - count: The number of locations; raised to `number` if it is lower.
    ///   - name: The name in the file, or an empty string.
    public init(_ number: Int, of count: Int, name: String = "") {
      self.number = max(1, number)
      self.addressedLocationCount = max(self.number, count)
      self.name = name
    }

    /// Returns true if both locations have the same number. Names are ignored, because formats name
    /// locations differently.
    public func isSameLocation(as other: BodyLocation) -> Bool { number == other.number }

    /// The name of the location, or its number if it has no name.
    public var displayName: String { name.isEmpty ? "\(number)" : name }

    /// Returns true if a text is the location's number or name, ignoring the case of ASCII letters.
    public func matches(_ text: String) -> Bool {
      func folded(_ text: String) -> [UInt8] {
        text.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }
      }
      return folded(text) == folded("\(number)") || !name.isEmpty && folded(text) == folded(name)
    }
  }

  /// The start and the end of a loop, in seconds.
  public struct LoopPoints: Equatable, Sendable {
    /// The start time of every pass after the first, in seconds.
    public var startSeconds: Double
    /// The end time of every pass, in seconds, or nil for the end of the composition.
    public var endSeconds: Double?

    /// Creates loop points without validating them.
    public init(startSeconds start: Double = 0, endSeconds end: Double? = nil) {
      self.startSeconds = start
      self.endSeconds = end
    }
  }

  /// The layers of the composition, at least one.
  public var layers: [Layer]
  /// The loop points, or nil to loop over the whole composition.
  public var loop: LoopPoints?
  /// The title of the composition, or nil.
  public var title: String?
  /// The notes that the author wrote about the composition, or nil.
  public var notes: String?
  /// The author of the composition, or nil.
  public var author: String?

  /// Creates a composition of layers.
  ///
  /// - Parameters:
  ///   - layers: The layers, at least one.
  ///   - loop: The loop points, or nil to loop over the whole composition.
  ///   - title: The title, or nil.
  ///   - notes: The author's notes, or nil.
  ///   - author: The author, or nil.
  public init(
    layers: [Layer], loop: LoopPoints? = nil, title: String? = nil, notes: String? = nil,
    author: String? = nil
  ) {
    self.layers = layers
    self.loop = loop
    self.title = title
    self.notes = notes
    self.author = author
  }

  /// Creates a composition with one layer, which contains a pattern.
  public init(_ pattern: HapticPattern) { self.init(layers: [Layer(pattern)]) }

  /// The distinct body locations of the layers, sorted by number and name.
  public var bodyLocations: [BodyLocation] {
    var distinctLocations: [BodyLocation] = []
    for case let location? in layers.map({ $0.bodyLocation })
    where !distinctLocations.contains(location) {
      distinctLocations.append(location)
    }
    return distinctLocations.sorted { ($0.number, $0.name) < ($1.number, $1.name) }
  }

  /// The number of body locations that the layers address; 0 if every layer is felt everywhere.
  public var bodyLocationCount: Int {
    var maximumLocationCount = 0
    for layer in layers {
      maximumLocationCount = max(
        maximumLocationCount, layer.bodyLocation?.addressedLocationCount ?? 0)
    }
    return maximumLocationCount
  }

  /// The maximum number of body locations that play on channels of their own.
  public static let maximumSeparateLocationCount = 64

  /// The body locations of the composition, one for each number, by ascending number.
  ///
  /// The array is empty if the composition addresses fewer than two locations, so that it is felt
  /// alike everywhere, or more than `maximumSeparateLocationCount`.
  public var separateLocations: [BodyLocation] {
    let locationCount = bodyLocationCount
    guard (2...Self.maximumSeparateLocationCount).contains(locationCount) else { return [] }
    let namedLocations = bodyLocations
    let separateLocations = (1...locationCount).map { number in
      namedLocations.first { $0.number == number } ?? BodyLocation(number, of: locationCount)
    }
    return separateLocations.filter { location in
      layers.contains { $0.hasHaptics && $0.isFelt(at: location) }
    }
  }

  /// Returns the layers that are felt at a body location, as a composition that is felt everywhere.
  package func composition(feltAt location: BodyLocation) -> HapticComposition {
    var feltComposition = self
    feltComposition.layers = layers.filter { $0.isFelt(at: location) }.map { layer in
      var layer = layer
      layer.bodyLocation = nil
      return layer
    }
    return feltComposition
  }

  /// The duration of the longest layer, in seconds.
  public var durationSeconds: Double { layers.map { $0.durationSeconds }.max() ?? 0 }

  /// The events, parameters, and curves of all layers as one pattern, in the order of the layers.
  ///
  /// The result is exact for a single layer, or if no layer has parameters or curves. Otherwise,
  /// the controls act on the events of all layers instead of their own. Sampled signals are
  /// omitted.
  public var flattened: HapticPattern {
    guard layers.count != 1 else { return layers[0].pattern }
    var flattenedPattern = HapticPattern()
    for layer in layers {
      flattenedPattern.events += layer.pattern.events
      flattenedPattern.parameters += layer.pattern.parameters
      flattenedPattern.curves += layer.pattern.curves
    }
    return flattenedPattern
  }

  /// A Boolean value that indicates whether `flattened` plays the same as the separate layers.
  public var flattensExactly: Bool {
    layers.allSatisfy { $0.signals.isEmpty }
      && (layers.count <= 1
        || layers.allSatisfy { $0.pattern.parameters.isEmpty && $0.pattern.curves.isEmpty })
  }
}

/// A reference to an event by the index of its layer and its index in the layer.
public struct EventReference: Hashable, Comparable, Sendable {
  /// The index of the layer that contains the event.
  public var layerIndex: Int
  /// The index of the event in the layer.
  public var eventIndex: Int

  /// Creates a reference from the index of a layer and the index of an event in the layer.
  public init(layerIndex: Int = 0, eventIndex: Int) {
    self.layerIndex = layerIndex
    self.eventIndex = eventIndex
  }

  /// Orders references by layer, then by event.
  public static func < (lhs: EventReference, rhs: EventReference) -> Bool {
    (lhs.layerIndex, lhs.eventIndex) < (rhs.layerIndex, rhs.eventIndex)
  }
}

/// A part of a composition that a finding or a loss refers to.
public enum CompositionElement: Hashable, Sendable {
  /// The composition as a whole.
  case composition
  /// A layer, identified by its index.
  case layer(Int)
  /// An event of a layer.
  case event(EventReference)
  /// A parameter, identified by its layer and its index in the layer.
  case parameter(layer: Int, index: Int)
  /// A curve, identified by its layer and its index in the layer.
  case curve(layer: Int, index: Int)
}
