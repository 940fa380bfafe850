internal import CMath
internal import HapticModel
public import HapticRender
public import Reading

/// An array of several transducers on one interface, with their positions and profiles.
public struct TransducerArray: Equatable, Sendable {
  /// The arrangement of the transducers, which determines the meaning of a position.
  public enum Layout: String, CaseIterable, Sendable {
    /// The transducers form a row. A position is a number in any unit.
    case line
    /// The transducers form a ring around a person. A position is an angle in degrees.
    case ring
    /// The transducers form a plane. A position has two coordinates in meters.
    case plane
  }

  /// A transducer of the array.
  public struct Transducer: Equatable, Sendable {
    /// The number of the output channel, from 1.
    public var channelNumber: Int
    /// The position of the transducer in the array.
    public var position: ArrayPosition
    /// The profile of the transducer.
    public var profile: TransducerProfile
    /// The gain of the transducer's channel, in decibels.
    public var gainDecibels: Double
    /// The delay of the transducer's signal, in seconds.
    public var delaySeconds: Double
    /// A Boolean value that indicates whether the polarity of the signal is inverted.
    public var isInverted: Bool
    /// The number or name of the body location whose events this transducer plays; nil for all
    /// locations.
    public var bodyLocation: String?

    /// Creates a transducer.
    public init(
      channelNumber: Int, position: ArrayPosition, profile: TransducerProfile = .phone,
      gainDecibels: Double = 0,
      delay: Double = 0,
      isInverted: Bool = false
    ) {
      self.channelNumber = channelNumber
      self.position = position
      self.profile = profile
      self.gainDecibels = gainDecibels
      self.delaySeconds = delay
      self.isInverted = isInverted
    }
  }

  /// The display name of the array.
  public var name: String
  /// The arrangement of the transducers.
  public var layout: Layout
  /// The transducers, in the order of their haptic buses. All channels and positions are distinct.
  public var transducers: [Transducer]

  /// Creates an array.
  public init(name: String, layout: Layout = .line, transducers: [Transducer]) {
    self.name = name
    self.layout = layout
    self.transducers = transducers
  }

  /// Returns the gain of each transducer that plays a pattern at the given position. On a line or a
  /// ring, at most two gains are not zero.
  ///
  /// On a line or a ring, the two neighbors of the position divide the power by sine and cosine.
  /// Beyond the ends of a line, the last transducer has the whole power.
  public func transducerGains(at position: ArrayPosition) -> [Double] {
    switch layout {
    case .line: lineGains(at: position.firstCoordinate)
    case .ring: ringGains(at: position.firstCoordinate)
    case .plane: planeGains(at: position)
    }
  }

  /// The distance below which positions coincide, in the unit of the layout.
  static let maximumCoincidenceDistance = 1e-6

  /// The angle of a full turn around a ring, in degrees.
  static let degreesPerTurn = 360.0

  /// Returns an angle normalized to 0..<360 degrees.
  static func normalizedDegrees(_ degrees: Double) -> Double {
    let remainderDegrees = fmod(degrees, degreesPerTurn)
    guard remainderDegrees < 0 else { return remainderDegrees }
    let positiveDegrees = remainderDegrees + degreesPerTurn
    // A tiny negative angle would be rounded to a full turn.
    return positiveDegrees < degreesPerTurn ? positiveDegrees : 0
  }

  /// Returns the distance between two positions, in the unit of the layout.
  func distance(from first: ArrayPosition, to second: ArrayPosition) -> Double {
    guard layout == .ring else { return first.distance(to: second) }
    let differenceDegrees = Self.normalizedDegrees(first.firstCoordinate - second.firstCoordinate)
    return min(differenceDegrees, Self.degreesPerTurn - differenceDegrees)
  }

  private func lineGains(at position: Double) -> [Double] {
    let positions = transducers.map { $0.position.firstCoordinate }
    let sortedIndices = positions.indices.sorted { positions[$0] < positions[$1] }
    var gains = transducers.map { _ in 0.0 }
    guard !sortedIndices.isEmpty else { return gains }
    let upperRank = sortedIndices.firstIndex { positions[$0] > position } ?? sortedIndices.count
    let lowerIndex = sortedIndices[max(upperRank - 1, 0)]
    let upperIndex = sortedIndices[min(upperRank, sortedIndices.count - 1)]
    if lowerIndex == upperIndex {
      gains[lowerIndex] = 1
    } else {
      let fraction =
        (position - positions[lowerIndex]) / (positions[upperIndex] - positions[lowerIndex])
      Self.distributeByPanLaw(fraction, between: lowerIndex, and: upperIndex, in: &gains)
    }
    return gains
  }

  private func ringGains(at degrees: Double) -> [Double] {
    let transducerDegrees = transducers.map { Self.normalizedDegrees($0.position.firstCoordinate) }
    let sortedIndices = transducerDegrees.indices.sorted {
      transducerDegrees[$0] < transducerDegrees[$1]
    }
    var gains = transducers.map { _ in 0.0 }
    guard let firstIndex = sortedIndices.first, let lastIndex = sortedIndices.last else {
      return []
    }
    guard sortedIndices.count > 1 else { return [1] }
    let targetDegrees = Self.normalizedDegrees(degrees)
    let upperRank = sortedIndices.firstIndex { transducerDegrees[$0] > targetDegrees } ?? 0
    let lowerIndex = upperRank > 0 ? sortedIndices[upperRank - 1] : lastIndex
    let upperIndex = upperRank > 0 ? sortedIndices[upperRank] : firstIndex
    let gapDegrees = Self.normalizedDegrees(
      transducerDegrees[upperIndex] - transducerDegrees[lowerIndex])
    let gapFraction =
      Self.normalizedDegrees(targetDegrees - transducerDegrees[lowerIndex]) / gapDegrees
    Self.distributeByPanLaw(gapFraction, between: lowerIndex, and: upperIndex, in: &gains)
    return gains
  }

  /// Returns the gains on a plane by distance-based amplitude panning, with 6 dB for each doubling
  /// of the distance. The spatial blur is a fifth of the mean distance to the nearest neighbor.
  ///
  /// Source: T. Lossius, P. Baltazar, T. de la Hogue, "DBAP – Distance-Based Amplitude Panning",
  /// ICMC 2009.
  private func planeGains(at position: ArrayPosition) -> [Double] {
    guard transducers.count > 1 else { return transducers.map { _ in 1 } }
    let positions = transducers.map { $0.position }
    let nearestDistances = positions.indices.map { index in
      let others = positions.indices.filter { $0 != index }
      return others.map { positions[index].distance(to: positions[$0]) }.min() ?? .infinity
    }
    let minimumSpread = 0.2 * nearestDistances.reduce(0, +) / Double(positions.count)
    // Distances relative to the nearest transducer keep all squares finite.
    let distances = positions.map { hypot($0.distance(to: position), minimumSpread) }
    let minimumDistance = distances.min() ?? 1
    let relativePowers = distances.map { (minimumDistance / $0) * (minimumDistance / $0) }
    let totalPower = relativePowers.reduce(0, +)
    return relativePowers.map { ($0 / totalPower).squareRoot() }
  }

  /// Divides the signal between two transducers by the sine-cosine pan law, so that the total power
  /// is constant.
  ///
  /// - Parameters:
  ///   - fraction: The position between the transducers, 0…1.
  ///   - low: The index of the transducer at 0.
  ///   - high: The index of the transducer at 1.
  ///   - gains: The gains of all transducers.
  private static func distributeByPanLaw(
    _ fraction: Double, between low: Int, and high: Int, in gains: inout [Double]
  ) {
    // At the positions of the transducers, the gains are exactly 1 and 0.
    gains[low] = fraction >= 1 ? 0 : cos(fraction * .pi / 2)
    gains[high] = fraction <= 0 ? 0 : sin(fraction * .pi / 2)
  }
}

/// A position in a transducer array: on its line, around its ring, or on its plane.
public struct ArrayPosition: Equatable, Sendable {
  /// The coordinate on a line, the angle on a ring in degrees, or the first coordinate on a plane
  /// in meters.
  public var firstCoordinate: Double
  /// The second coordinate on a plane, in meters, or 0 on a line or a ring.
  public var secondCoordinate: Double

  /// Creates a position.
  public init(_ x: Double, _ y: Double = 0) {
    self.firstCoordinate = x
    self.secondCoordinate = y
  }

  /// Returns the position at a fraction of the straight path from this position to another.
  ///
  /// On a ring, the path interpolates the angles as numbers, so a path from 350 to 370 passes
  /// through 360.
  public func interpolated(_ fraction: Double, toward end: ArrayPosition) -> ArrayPosition {
    // This form is exact at both ends.
    ArrayPosition(
      firstCoordinate * (1 - fraction) + end.firstCoordinate * fraction,
      secondCoordinate * (1 - fraction) + end.secondCoordinate * fraction)
  }

  func distance(to other: ArrayPosition) -> Double {
    hypot(firstCoordinate - other.firstCoordinate, secondCoordinate - other.secondCoordinate)
  }
}

/// The result of checking an array's text and the profiles that it names.
public struct ArrayCheckResult: Sendable {
  /// The array, or the error that rejects the text.
  public var outcome: Result<TransducerArray, InputError>
  /// The findings in the order of the text.
  /// There are at most 100 findings of each rule, and a finding that counts the rest.
  public var findings: [Finding] = []

  /// Checks the text of an array, and reads the profiles that it names.
  ///
  /// - Parameters:
  ///   - text: The UTF-8 text, at most `ProfileFile.maximumByteCount`.
  ///   - name: The name of the text in findings, usually the file's path.
  ///   - folder: The folder to which paths of profiles are relative, or nil for the working folder.
  ///   - library: The library of named profiles.
  public init(text: [UInt8], name: String, folder: String?, library: ProfileLibrary) {
    do throws(InputError) {
      let document = try ProfileFile.parseDocument(text, name: name)
      let root = document.root
      let layout = root["layout"]?.string.flatMap(TransducerArray.Layout.init) ?? .line
      var checker = ProfileChecker(document, profileLoader: library.profileLoader(inFolder: folder))
      var array = TransducerArray(name: "", transducers: [])
      checker.readObject(ArraySchema.array(layout), into: &array)
      let transducers = root["transducers"].map { Array($0.elements) } ?? []
      checker.checkChannels(of: transducers)
      checker.checkPositions(of: transducers, layout: layout)
      findings = checker.findings
      if let error = checker.inputError { throw error }
      outcome = .success(array)
    } catch {
      if findings.isEmpty {
        findings = [error.finding]
      }
      outcome = .failure(error)
    }
  }

  /// Returns whether a text is meant to be an array: a JSON object with transducers.
  public static func isArrayText(_ text: [UInt8]) -> Bool {
    (try? ProfileFile.parseDocument(text, name: ""))?.root["transducers"] != nil
  }
}

extension TransducerArray.Layout: JSONEnumeration {}

extension ArrayPosition {
  init(_ value: JSONValue) {
    if let number = value.number {
      self.init(number)
    } else {
      self.init(value["x"]?.number ?? .nan, value["y"]?.number ?? .nan)
    }
  }
}

enum ArraySchema {
  /// The range of the delay of a transducer, in seconds.
  static let delaySecondsRange = 0.0...1.0
  /// The range of the gain of a transducer, in decibels.
  static let gainDecibelsRange = -120.0...24.0

  static func array(_ layout: TransducerArray.Layout) -> ProfileObjectSchema<TransducerArray> {
    ProfileObjectSchema(
      "an array",
      [
        .value("name", .string(), is: .required, "Display name of the array.") { $1(&$0.name) },
        .enumeration("layout", is: .optional, "Arrangement of the transducers.") { $1(&$0.layout) },
        .array(
          "transducers", of: transducer(layout), count: 1...OutputRouting.maximumChannelCount,
          new: TransducerArray.Transducer(channelNumber: 0, position: ArrayPosition(0)),
          is: .required,
          "Transducers, at most one per channel."
        ) { $1(&$0.transducers) },
        .ignored(
          ProfileSchema.schemaKey, .string(), "Schema reference for editors; ignored by Temblor."),
      ])
  }

  private static func transducer(_ layout: TransducerArray.Layout) -> ProfileObjectSchema<
    TransducerArray.Transducer
  > {
    let profileKey = JSONKey(
      "profile", .string(),
      "Profile name, or a file in the folder of the array file. Default: phone."
    )
    return ProfileObjectSchema(
      "an entry",
      [
        .value(
          "channel", .integer(1...OutputRouting.maximumChannelCount), is: .required,
          "Output channel, numbered from 1."
        ) { $1(&$0.channelNumber) }, position(layout),
        ProfileProperty(profileKey) { value, transducer, reader in
          guard let word: String = reader.readScalar(value, key: profileKey) else { return false }
          transducer.profile = reader.resolveProfile(word, at: value)
          return true
        },
        .value("gain", .number(gainDecibelsRange), default: 0, "Decibels.") {
          $1(&$0.gainDecibels)
        },
        .value("delay", .number(delaySecondsRange), default: 0, "Seconds.") {
          $1(&$0.delaySeconds)
        },
        .value("invert", .boolean, "Whether the polarity is inverted. Default: false.") {
          $1(&$0.isInverted)
        },
        .value(
          "source", .string(),
          "Body location of patterns to play, by number or name. Default: all."
        ) {
          var source = $0.bodyLocation ?? ""
          $1(&source)
          $0.bodyLocation = source.isEmpty ? nil : source
        },
      ])
  }

  private static func position(_ layout: TransducerArray.Layout) -> ProfileProperty<
    TransducerArray.Transducer
  > {
    let positionMeaning = "Position of the transducer."
    switch layout {
    case .line:
      return .value("at", .number(-1e6...1e6), is: .required, positionMeaning) {
        $1(&$0.position.firstCoordinate)
      }
    case .ring:
      return .value(
        "at", .number(0...TransducerArray.degreesPerTurn), is: .required, positionMeaning
      ) {
        $1(&$0.position.firstCoordinate)
      }
    case .plane:
      return .object("at", plane, is: .required, positionMeaning) { $1(&$0.position) }
    }
  }

  private static let plane = ProfileObjectSchema<ArrayPosition>(
    "an object",
    [
      .value("x", .number(-1e3...1e3), is: .required, "x coordinate in meters.") {
        $1(&$0.firstCoordinate)
      },
      .value("y", .number(-1e3...1e3), is: .required, "y coordinate in meters.") {
        $1(&$0.secondCoordinate)
      },
    ])
}

extension ProfileChecker {
  /// Returns the profile of a transducer, or adds an error and returns the default profile.
  mutating func resolveProfile(_ word: String, at value: JSONValue) -> TransducerProfile {
    guard let profileLoader else { return .phone }
    do {
      return try profileLoader(word)
    } catch {
      findingLog.add(.invalidValue, at: value, error.reason, suggestion: error.hint)
      return .phone
    }
  }

  mutating func checkChannels(of transducers: [JSONValue]) {
    var usedChannelNumbers: Set<Double> = []
    for transducer in transducers {
      guard let value = transducer["channel"], let number = value.number else { continue }
      guard !usedChannelNumbers.insert(number).inserted else { continue }
      findingLog.add(
        .contradictoryValues, at: value, "channel \(number.shortText) is used twice",
        suggestion: "use a different channel for each transducer")
    }
  }

  /// Checks that no two transducers have the same position.
  mutating func checkPositions(of transducers: [JSONValue], layout: TransducerArray.Layout) {
    let emptyArray = TransducerArray(name: "", layout: layout, transducers: [])
    var earlierPositions: [ArrayPosition] = []
    for transducer in transducers {
      guard let value = transducer["at"] else { continue }
      let position = ArrayPosition(value)
      guard position.firstCoordinate.isFinite, position.secondCoordinate.isFinite else { continue }
      let coincides = earlierPositions.contains {
        emptyArray.distance(from: $0, to: position) < TransducerArray.maximumCoincidenceDistance
      }
      if coincides {
        findingLog.add(
          .contradictoryValues, at: value, "another transducer has the same position",
          suggestion: "use a different position for each transducer")
      }
      earlierPositions.append(position)
    }
  }
}

extension ProfileLibrary {
  /// Returns a closure that reads the profiles that the text of an array names. It finds profiles
  /// in the library and files in the folder of the array's text.
  ///
  /// - Parameter folder: The folder to which paths are relative, or nil for the working folder.
  func profileLoader(inFolder folder: String?) -> ProfileChecker.ProfileLoader {
    { (word) throws(ProfileChecker.LoadingError) in
      func unusable(_ reason: String) -> ProfileChecker.LoadingError {
        .init(reason: "\(word.quoted()) cannot be used: \(reason.escapingInvisibles)")
      }
      var entry = entry(named: word)
      if ProfileFile.isPath(word) {
        let path = folder?.isEmpty == false ? "\(folder ?? "")/\(word)" : word
        guard ProfileFileSystem.containsFile(path, asWritten: word, in: folder ?? "") else {
          throw .init(
            reason: "\(word.quoted()) is outside the folder of the array",
            hint: """
              put the profile in the folder of the array, or add it to your user profiles and use \
              its name
              """)
        }
        entry = ProfileEntry(name: word, origin: .user, path: path)
      }
      guard let entry else { throw unknownProfileError(word) }
      let text: [UInt8]
      do throws(ProfileFileError) {
        text = try entry.readText()
      } catch {
        throw unusable(error.description)
      }
      do throws(InputError) {
        return try ProfileFile.read(text: text, name: entry.sourceName)
      } catch {
        throw unusable(error.description)
      }
    }
  }

  private func unknownProfileError(_ word: String) -> ProfileChecker.LoadingError {
    return .init(
      reason: "unknown profile \(word.quoted())",
      hint: JSONNameList(allEntries().map { $0.name }).suggestion(for: word)
        ?? "run 'temblor profiles' to list profiles")
  }
}

/// A path along which a pattern moves through an array over time, with linear interpolation between
/// points.
public struct PanPath: Equatable, Sendable {
  /// A point of a pan path, with a time and a position.
  public struct Point: Equatable, Sendable {
    /// The time from the start of the pattern, in seconds.
    public var timeSeconds: Double
    /// The position at the time of the point.
    public var position: ArrayPosition

    /// Creates a point.
    public init(timeSeconds: Double, position: ArrayPosition) {
      self.timeSeconds = timeSeconds
      self.position = position
    }
  }

  /// The points of the path in order of time.
  /// The first position is held before the first point, and the last position after the last point.
  public var points: [Point]

  /// Creates a path through points in order of time.
  public init(_ points: [Point]) { self.points = points }

  /// Creates a path with a constant position.
  public init(at position: ArrayPosition) { points = [Point(timeSeconds: 0, position: position)] }

  /// Returns the gain of each transducer's haptic bus over the duration of the pattern.
  ///
  /// Between two points, the gains follow the pan law in straight segments, at least 36 between
  /// neighboring transducers. The sum of their squares stays within 0.001 of 1 unless the path is
  /// too fast for the sample rate.
  ///
  /// - Parameters:
  ///   - array: The array.
  ///   - rate: The sample rate, in hertz.
  public func sendGains(on array: TransducerArray, rate: Double) -> [SendAutomation] {
    var breakpoints: [(frame: Int64, gains: [Double])] = []

    func addBreakpoint(_ frame: Int64, _ position: ArrayPosition) {
      breakpoints.append((frame, array.transducerGains(at: position)))
    }

    for (point, next) in zip(points, points.dropFirst()) {
      let start = FrameConversion.frame(seconds: point.timeSeconds, rate: rate)
      let length = FrameConversion.frame(seconds: next.timeSeconds, rate: rate) - start
      for fraction in array.panBreakpointFractions(from: point.position, to: next.position) {
        // Each breakpoint is on a frame, with the gains of that frame.
        let frame = Int64((fraction * Double(length)).rounded())
        let exact = length > 0 ? Double(frame) / Double(length) : 0
        addBreakpoint(start + frame, point.position.interpolated(exact, toward: next.position))
      }
    }
    if let lastPoint = points.last {
      addBreakpoint(
        FrameConversion.frame(seconds: lastPoint.timeSeconds, rate: rate), lastPoint.position)
    }
    return array.transducers.indices.map { bus in
      SendAutomation(
        breakpoints.map { SendAutomation.Point(patternFrame: $0.frame, sendGain: $0.gains[bus]) })
    }
  }
}

extension TransducerArray {
  /// The number of straight segments that approximate the pan law between two neighboring
  /// transducers.
  private static let panSegmentCountBetweenTransducers = 36

  /// Returns the positions along a straight path at which the gains have breakpoints, as fractions
  /// of its length in 0..<1.
  func panBreakpointFractions(from start: ArrayPosition, to end: ArrayPosition) -> [Double] {
    guard start != end else { return [0] }
    var breakFractions = [0.0]
    let pathDistance = end.firstCoordinate - start.firstCoordinate
    switch layout {
    case .plane:
      // Near each transducer that the path passes, the gains change quickly.
      let count = 4 * transducers.count
      breakFractions += (1..<count).map { Double($0) / Double(count) }
    case .line:
      breakFractions += transducers.map {
        ($0.position.firstCoordinate - start.firstCoordinate) / pathDistance
      }
    case .ring:
      // The path may pass a transducer several times in full turns.
      let low = min(start.firstCoordinate, end.firstCoordinate)
      let firstTurn = Self.degreesPerTurn * ((low / Self.degreesPerTurn).rounded(.down) - 1)
      for transducer in transducers {
        var angle = transducer.position.firstCoordinate + firstTurn
        while angle < max(start.firstCoordinate, end.firstCoordinate) {
          breakFractions.append((angle - start.firstCoordinate) / pathDistance)
          angle += Self.degreesPerTurn
        }
      }
    }
    breakFractions = breakFractions.filter { $0 >= 0 && $0 < 1 }.sorted()
    var stepFractions: [Double] = []
    for (index, low) in breakFractions.enumerated() {
      let high = index + 1 < breakFractions.count ? breakFractions[index + 1] : 1
      guard low < high else { continue }
      let step = (high - low) / Double(Self.panSegmentCountBetweenTransducers)
      for number in 0..<Self.panSegmentCountBetweenTransducers {
        stepFractions.append(low + step * Double(number))
      }
    }
    return stepFractions
  }
}
