public import HapticModel
public import Reading

/// A loss of information in reading or writing.
public struct Loss: Equatable, Sendable {
  /// The extent of a loss.
  public enum Kind: String, Sendable {
    /// The content is present, but not exact.
    case approximated
    /// The content is missing.
    case dropped
  }

  /// The extent of the loss.
  public var kind: Kind
  /// The part concerned, or the whole composition.
  public var element: CompositionElement
  /// The location in the source file, or nil for that of the part.
  public var location: FileLocation?
  /// One sentence without a period, with the size if there is one.
  public var message: String
  /// The size of the difference in the unit of the message, or nil.
  public var size: Double?

  /// Creates a loss.
  ///
  /// - Parameters:
  ///   - kind: The extent of the loss.
  ///   - element: The part concerned.
  ///   - location: The location in the source file, or nil for that of the part.
  ///   - message: One sentence without a period.
  ///   - size: The size of the difference in the unit of the message, or nil.
  public init(
    _ kind: Kind, _ element: CompositionElement, at location: FileLocation? = nil,
    _ message: String,
    size: Double? = nil
  ) {
    self.kind = kind
    self.element = element
    self.location = location
    self.message = message
    self.size = size
  }
}

/// The losses of one reading or writing.
///
/// Equal losses of one part are joined, with the largest size. Losses with the same message beyond
/// a maximum are only counted. A `#` in a message stands for the size.
package struct LossLog {
  private struct Key: Hashable {
    var kind: Loss.Kind
    var element: CompositionElement
    var message: String
  }

  /// The maximum number of losses with the same message.
  package let maximumCountPerMessage: Int
  private(set) var losses: [Loss] = []
  private var indicesByKey: [Key: Int] = [:]
  private var countsByMessage: [String: Int] = [:]

  /// Creates an empty log.
  package init(maximumCountPerMessage: Int = 1000) {
    self.maximumCountPerMessage = maximumCountPerMessage
  }

  /// Adds a loss, or raises the size of an equal one.
  ///
  /// - Parameters:
  ///   - kind: The extent of the loss.
  ///   - element: The part concerned.
  ///   - location: The location in the source file, or nil for that of the part.
  ///   - message: One sentence; `#` stands for the size.
  ///   - size: The size of the difference, or nil.
  package mutating func add(
    _ kind: Loss.Kind, _ element: CompositionElement, at location: FileLocation? = nil,
    _ message: String,
    size: Double? = nil
  ) {
    let key = Key(kind: kind, element: element, message: message)
    if let index = indicesByKey[key] {
      if let size {
        losses[index].size = max(losses[index].size ?? size, size)
      }
      return
    }
    countsByMessage[message, default: 0] += 1
    guard countsByMessage[message, default: 0] <= maximumCountPerMessage else { return }
    indicesByKey[key] = losses.count
    losses.append(Loss(kind, element, at: location, message, size: size))
  }

  /// Returns the losses in the order of addition, followed by the counts of those that were
  /// omitted.
  package func finish() -> [Loss] {
    let exceeding = countsByMessage.filter { $0.value > maximumCountPerMessage }
    let summaries = exceeding.sorted { $0.key < $1.key }.map { message, count in
      let last = losses.last { $0.message == message } ?? Loss(.dropped, .composition, message)
      return Loss(
        last.kind, .composition,
        "\(count - maximumCountPerMessage) more: \(Self.messageWithSize(of: last))")
    }
    let complete = losses.map { loss in
      var loss = loss
      loss.message = Self.messageWithSize(of: loss)
      return loss
    }
    return complete + summaries
  }

  /// Returns the message of a loss with its size to three digits.
  private static func messageWithSize(of loss: Loss) -> String {
    guard let size = loss.size, size.isFinite, loss.message.contains("#") else {
      return loss.message
    }
    var scale = 1.0
    while abs(size) * scale < 100, scale < 1e9 {
      scale *= 10
    }
    let rounded = (size * scale).rounded() / scale
    let isWhole = abs(rounded) < 1e15 && rounded == rounded.rounded()
    let sizeText = isWhole ? "\(Int64(rounded))" : "\(rounded)"
    let parts = loss.message.split(separator: "#", omittingEmptySubsequences: false)
    return parts.joined(separator: sizeText)
  }

  /// Adds the losses of a format without title and notes.
  package mutating func addTextLosses(of composition: HapticComposition) {
    if composition.title != nil {
      add(.dropped, .composition, "the title cannot be written")
    }
    if composition.notes != nil {
      add(.dropped, .composition, "the notes cannot be written")
    }
  }

  /// Adds the losses of a format that has only haptic events: audio events, sampled signals,
  /// controls that last longer than all events, and body locations.
  package mutating func addNonHapticLosses(
    of composition: HapticComposition, keepsBodyLocations: Bool = false
  ) {
    for (index, layer) in composition.layers.enumerated() {
      for (eventIndex, event) in layer.pattern.events.enumerated() where !event.kind.isHaptic {
        add(
          .dropped, .event(EventReference(layer: index, event: eventIndex)),
          "audio events cannot be written")
      }
      if !layer.signals.isEmpty {
        add(.dropped, .layer(index), "sampled signals cannot be written")
      }
    }
    if !keepsBodyLocations {
      addBodyLocationLosses(of: composition)
    }
    let end = Self.endOfEvents(in: composition)
    if composition.duration > end + 1e-3, end.isFinite {
      add(
        .dropped, .composition, "# s of trailing controls without events are omitted",
        size: composition.duration - end)
    }
  }

  /// Returns the end of the last event or sampled signal, in seconds.
  private static func endOfEvents(in composition: HapticComposition) -> Double {
    var end = 0.0
    for layer in composition.layers {
      for event in layer.pattern.events {
        end = max(end, event.time + (event.duration ?? 0))
      }
      for signal in layer.signals {
        end = max(end, signal.time + signal.duration)
      }
    }
    return end
  }

  /// Adds a loss for each layer whose frequencies are beyond the scale of the default profile.
  package mutating func addHertzLosses(of composition: HapticComposition) {
    let scale = SharpnessScale.phone
    for (index, layer) in composition.layers.enumerated() {
      guard let hertz = layer.statedHertz else { continue }
      let excess = max(
        scale.minimumHertz - hertz.lowerBound, hertz.upperBound - scale.maximumHertz)
      guard excess > Self.hertzTolerance else { continue }
      add(
        .approximated, .layer(index),
        """
        frequencies outside \(Int(scale.minimumHertz)) to \(Int(scale.maximumHertz)) Hz are \
        clamped to the nearest sharpness, by up to # Hz
        """,
        size: excess)
    }
  }

  /// The maximum distance of a frequency from the scale that is not a loss, in hertz.
  private static let hertzTolerance = 1e-3

  /// Adds a loss for each layer with a body location.
  package mutating func addBodyLocationLosses(of composition: HapticComposition) {
    for (index, layer) in composition.layers.enumerated() {
      guard let bodyLocation = layer.bodyLocation else { continue }
      add(
        .approximated, .layer(index),
        """
        the body location \(bodyLocation.displayName) cannot be written; the haptics play everywhere
        """)
    }
  }
}

extension HapticComposition {
  /// Returns the composition with sharpness on the scale of the default profile instead of hertz.
  ///
  /// - Parameter losses: Receives the frequencies beyond the scale.
  package func voiced(losses: inout LossLog) -> HapticComposition {
    losses.addHertzLosses(of: self)
    return voiced(on: .phone)
  }
}
