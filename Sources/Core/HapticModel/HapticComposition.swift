/// Layers that sound together, as a file of any format holds them.
///
/// Parameters and curves act on the events of their own layer alone. An AHAP file is one layer.
public struct HapticComposition: Equatable, Sendable {
  /// One pattern of a composition.
  public struct Layer: Equatable, Sendable {
    /// Events with the parameters and curves that act on them.
    public var pattern: HapticPattern
    /// Sampled signals that sound beside the events.
    public var signals: [SampledSignal]
    /// What the file calls the layer; empty where it has no name.
    public var name: String
    /// Where its haptics are felt; nil for everywhere.
    public var bodyLocation: BodyLocation?

    /// Makes a layer.
    public init(
      _ pattern: HapticPattern, signals: [SampledSignal] = [], name: String = "",
      bodyLocation place: BodyLocation? = nil
    ) {
      self.pattern = pattern
      self.signals = signals
      self.name = name
      self.bodyLocation = place
    }
  }

  /// A part of the body, or an actuator of a device, as the format of a file orders them.
  public struct BodyLocation: Hashable, Sendable {
    /// The number, from 1, and how many places the file addresses.
    public var number, count: Int
    /// What the file calls it; empty where it has no name.
    public var name: String

    /// Makes a place; a number beyond the count raises the count.
    public init(_ number: Int, of count: Int, name: String = "") {
      self.number = max(1, number)
      self.count = max(self.number, count)
      self.name = name
    }

    /// The name, or the number where there is none.
    public var displayName: String { name.isEmpty ? "\(number)" : name }

    /// Whether a text is its number or its name; upper and lower case of ASCII letters are equal.
    public func matches(_ text: String) -> Bool {
      func folded(_ text: String) -> [UInt8] {
        text.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }
      }
      return folded(text) == folded("\(number)") || !name.isEmpty && folded(text) == folded(name)
    }
  }

  /// Where a loop begins and ends, in seconds.
  public struct LoopPoints: Equatable, Sendable {
    /// Where further passes begin.
    public var start: Double
    /// Where a pass ends, or nil for the end of the composition.
    public var end: Double?

    /// Makes loop points; nothing is checked.
    public init(start: Double = 0, end: Double? = nil) {
      self.start = start
      self.end = end
    }
  }

  /// The layers; at least one.
  public var layers: [Layer]
  /// Where a loop begins and ends, or nil for the whole composition.
  public var loop: LoopPoints?
  /// The title, what the author says about it, and who made it, or nil.
  public var title, notes, author: String?

  /// Makes a composition of layers.
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

  /// Makes a composition of one pattern.
  public init(_ pattern: HapticPattern) { self.init(layers: [Layer(pattern)]) }

  /// The places that layers name, by number and name.
  public var bodyLocations: [BodyLocation] {
    var places: [BodyLocation] = []
    for case let place? in layers.map({ $0.bodyLocation }) where !places.contains(place) {
      places.append(place)
    }
    return places.sorted { ($0.number, $0.name) < ($1.number, $1.name) }
  }

  /// How many places the layers are distributed over; 0 where all are felt everywhere.
  public var bodyLocationCount: Int {
    var count = 0
    for layer in layers {
      count = max(count, layer.bodyLocation?.count ?? 0)
    }
    return count
  }

  /// Seconds until the last layer's duration is over.
  public var duration: Double { layers.map { $0.duration }.max() ?? 0 }

  /// All layers as one pattern, in their order.
  ///
  /// Exact where there is one layer, or none has parameters or curves; else these act on the events
  /// of all layers instead of their own. Sampled signals are left out.
  public var flattened: HapticPattern {
    guard layers.count != 1 else { return layers[0].pattern }
    var pattern = HapticPattern()
    for layer in layers {
      pattern.events += layer.pattern.events
      pattern.parameters += layer.pattern.parameters
      pattern.curves += layer.pattern.curves
    }
    return pattern
  }

  /// Whether `flattened` sounds as the layers do.
  public var isFlatteningExact: Bool {
    layers.allSatisfy { $0.signals.isEmpty }
      && (layers.count <= 1
        || layers.allSatisfy { $0.pattern.parameters.isEmpty && $0.pattern.curves.isEmpty })
  }
}

/// The number of an event: its layer and its place among that layer's events.
public struct EventReference: Hashable, Comparable, Sendable {
  /// The index of the layer, and that of the event in it.
  public var layer, event: Int

  /// Makes a reference.
  public init(layer: Int = 0, event: Int) {
    self.layer = layer
    self.event = event
  }

  /// Layer by layer, event by event.
  public static func < (one: EventReference, other: EventReference) -> Bool {
    (one.layer, one.event) < (other.layer, other.event)
  }
}

/// A part of a composition, for findings and losses to be about.
public enum CompositionElement: Hashable, Sendable {
  /// The composition as a whole.
  case composition
  /// A layer, by its index.
  case layer(Int)
  /// An event.
  case event(EventReference)
  /// A parameter, by its layer and its index in it.
  case parameter(layer: Int, index: Int)
  /// A curve, by its layer and its index in it.
  case curve(layer: Int, index: Int)
}
