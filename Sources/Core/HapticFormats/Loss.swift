public import HapticModel
public import Reading

/// Information that was lost while reading or writing a file.
public struct Loss: Equatable, Sendable {
  /// Indicates whether lost content is approximated or omitted.
  public enum Kind: String, Sendable {
    /// The content is preserved only approximately.
    case approximated
    /// The content is omitted.
    case dropped
  }

  /// The extent of the loss: approximated or dropped content.
  public var kind: Kind
  /// The affected part of the composition.
  public var compositionElement: CompositionElement
  /// The location in the source file, or nil to use the location of the affected part.
  public var location: FileLocation?
  /// A sentence without a final period. It includes the size of the difference, if known.
  public var message: String
  /// The size of the difference, in the unit used in the message, or nil.
  public var lossMagnitude: Double?

  /// Creates a loss that affects an element, with a message.
  ///
  /// - Parameters:
  ///   - kind: The extent of the loss.
  ///   - element: The affected part of the composition.
  ///   - location: The location in the source file, or nil to use the location of the affected
  ///     part.
  ///   - message: A sentence without a final period.
  ///   - size: The size of the difference, in the unit used in the message, or nil.
  public init(
    _ kind: Kind, _ element: CompositionElement, at location: FileLocation? = nil,
    _ message: String,
    size: Double? = nil
  ) {
    self.kind = kind
    self.compositionElement = element
    self.location = location
    self.message = message
    self.lossMagnitude = size
  }
}

/// Collects the losses of reading or writing one composition.
///
/// Equal losses of the same part are merged and keep the largest size. Beyond a maximum number,
/// losses with the same message are only counted. In a message, `#` is a placeholder for the size.
package struct LossLog {
  private struct LossKey: Hashable {
    var kind: Loss.Kind
    var compositionElement: CompositionElement
    var message: String
  }

  /// The maximum number of losses to keep for each message.
  package let maximumLossCountPerMessage: Int
  private(set) var losses: [Loss] = []
  private var lossIndicesByKey: [LossKey: Int] = [:]
  private var lossCountsByMessage: [String: Int] = [:]

  /// Creates an empty log.
  package init(maximumCountPerMessage: Int = 1000) {
    self.maximumLossCountPerMessage = maximumCountPerMessage
  }

  /// Adds a loss, or increases the size of an equal loss.
  ///
  /// - Parameters:
  ///   - kind: The extent of the loss.
  ///   - element: The affected part of the composition.
  ///   - location: The location in the source file, or nil to use the location of the affected
  ///     part.
  ///   - message: A sentence without a final period, in which `#` is a placeholder for the size.
  ///   - size: The size of the difference, or nil.
  package mutating func add(
    _ kind: Loss.Kind, _ element: CompositionElement, at location: FileLocation? = nil,
    _ message: String,
    size: Double? = nil
  ) {
    let lossKey = LossKey(kind: kind, compositionElement: element, message: message)
    if let existingIndex = lossIndicesByKey[lossKey] {
      if let size {
        losses[existingIndex].lossMagnitude = max(
          losses[existingIndex].lossMagnitude ?? size, size)
      }
      return
    }
    lossCountsByMessage[message, default: 0] += 1
    guard lossCountsByMessage[message, default: 0] <= maximumLossCountPerMessage else { return }
    lossIndicesByKey[lossKey] = losses.count
    losses.append(Loss(kind, element, at: location, message, size: size))
  }

  /// Returns the losses in the order they were added, followed by the counts of omitted losses.
  package func lossesWithOmittedCounts() -> [Loss] {
    let countsAboveMaximum = lossCountsByMessage.filter { $0.value > maximumLossCountPerMessage }
    let omissionSummaries = countsAboveMaximum.sorted { $0.key < $1.key }.map { message, count in
      let last = losses.last { $0.message == message } ?? Loss(.dropped, .composition, message)
      return Loss(
        last.kind, .composition,
        "\(count - maximumLossCountPerMessage) more: \(Self.messageWithMagnitude(of: last))")
    }
    let lossesWithSizes = losses.map { loss in
      var loss = loss
      loss.message = Self.messageWithMagnitude(of: loss)
      return loss
    }
    return lossesWithSizes + omissionSummaries
  }

  /// Returns the message of a loss, with the size of the difference inserted to three digits.
  private static func messageWithMagnitude(of loss: Loss) -> String {
    guard let differenceSize = loss.lossMagnitude, differenceSize.isFinite,
      loss.message.contains("#")
    else {
      return loss.message
    }
    var roundingScale = 1.0
    while abs(differenceSize) * roundingScale < 100, roundingScale < 1e9 {
      roundingScale *= 10
    }
    let roundedSize = (differenceSize * roundingScale).rounded() / roundingScale
    let isWholeNumber = abs(roundedSize) < 1e15 && roundedSize == roundedSize.rounded()
    let sizeText = isWholeNumber ? "\(Int64(roundedSize))" : "\(roundedSize)"
    let messageParts = loss.message.split(separator: "#", omittingEmptySubsequences: false)
    return messageParts.joined(separator: sizeText)
  }

  /// Adds losses for the title and notes, for formats that store neither.
  package mutating func addTextLosses(of composition: HapticComposition) {
    if composition.title != nil {
      add(.dropped, .composition, "the title cannot be written")
    }
    if composition.notes != nil {
      add(.dropped, .composition, "the notes cannot be written")
    }
  }

  /// Adds losses for formats that store only haptic events: audio events, sampled signals, controls
  /// that outlast all events, and body locations.
  package mutating func addNonHapticLosses(
    of composition: HapticComposition, keepsBodyLocations: Bool = false
  ) {
    for (index, layer) in composition.layers.enumerated() {
      for (eventIndex, event) in layer.pattern.events.enumerated() where !event.kind.isHaptic {
        add(
          .dropped, .event(EventReference(layerIndex: index, eventIndex: eventIndex)),
          "audio events cannot be written")
      }
      if !layer.signals.isEmpty {
        add(.dropped, .layer(index), "sampled signals cannot be written")
      }
    }
    if !keepsBodyLocations {
      addBodyLocationLosses(of: composition)
    }
    let eventsEndSeconds = Self.endOfEvents(in: composition)
    if composition.durationSeconds > eventsEndSeconds + 1e-3, eventsEndSeconds.isFinite {
      add(
        .dropped, .composition, "# s of trailing controls without events are omitted",
        size: composition.durationSeconds - eventsEndSeconds)
    }
  }

  /// Returns the end time of the last event or sampled signal, in seconds.
  private static func endOfEvents(in composition: HapticComposition) -> Double {
    var latestEndSeconds = 0.0
    for layer in composition.layers {
      for event in layer.pattern.events {
        latestEndSeconds = max(latestEndSeconds, event.time + (event.duration ?? 0))
      }
      for signal in layer.signals {
        latestEndSeconds = max(latestEndSeconds, signal.startSeconds + signal.durationSeconds)
      }
    }
    return latestEndSeconds
  }

  /// Adds a loss for each layer with frequencies beyond the default profile's scale.
  package mutating func addHertzLosses(of composition: HapticComposition) {
    let phoneScale = SharpnessScale.phone
    for (index, layer) in composition.layers.enumerated() {
      guard let hertz = layer.statedHertzRange else { continue }
      let excess = max(
        phoneScale.minimumHertz - hertz.lowerBound, hertz.upperBound - phoneScale.maximumHertz)
      guard excess > Self.maximumUnreportedExcessHertz else { continue }
      add(
        .approximated, .layer(index),
        """
        frequencies outside \(Int(phoneScale.minimumHertz)) to \(Int(phoneScale.maximumHertz)) Hz \
        are clamped to the nearest sharpness, by up to # Hz
        """,
        size: excess)
    }
  }

  /// The maximum distance of a frequency from the scale, in hertz, that is not reported as a loss.
  private static let maximumUnreportedExcessHertz = 1e-3

  /// Adds a loss for each layer that has a body location.
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
  /// Returns the composition with sharpness in place of frequencies in hertz.
  ///
  /// The sharpness is on the scale of the default profile.
  ///
  /// - Parameter losses: Receives a loss for frequencies beyond the scale.
  package func convertingStatedHertzToDefaultScale(losses: inout LossLog) -> HapticComposition {
    losses.addHertzLosses(of: self)
    return convertingStatedHertz(to: .phone)
  }
}
