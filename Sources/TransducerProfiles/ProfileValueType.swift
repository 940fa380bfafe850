/// What a value of a profile's text may be; the reader and the schema both follow it.
indirect enum ProfileValueType: Sendable {
  /// A number in a range.
  case number(ClosedRange<Double>)
  /// A number without a fraction in a range.
  case whole(ClosedRange<Int>)
  /// True or false.
  case boolean
  /// A text of at least one character.
  case text
  /// A name that people type.
  case name
  /// One of some words; where the key is left out, the first counts.
  case word([String])
  /// Entries of one shape, and how many there may be.
  case list(ProfileValueType, count: ClosedRange<Int>? = nil)
  /// Members with known keys.
  case object(ProfileFields)
}

/// A key of a profile's text.
struct ProfileKey: Sendable {
  let name: String
  let shape: ProfileValueType
  /// Whether it must be there.
  let isRequired: Bool
  /// The number that counts where the key is left out, if it is always the same.
  let usual: Double?
  /// One or two sentences for people who write profiles, unit first.
  let meaning: String

  /// Makes a key.
  init(
    _ name: String, _ shape: ProfileValueType, isRequired: Bool = false, usual: Double? = nil,
    _ meaning: String
  ) {
    self.name = name
    self.shape = shape
    self.isRequired = isRequired
    self.usual = usual
    self.meaning = meaning
  }
}

/// The keys of one object, and what they ask of each other.
struct ProfileFields: Sendable {
  /// Keys of which the second may not be below the first; where absent, their usual numbers count.
  struct Order: Sendable {
    var low: String
    var high: String
  }

  /// A word that decides which other keys there are.
  struct Choice: Sendable {
    /// The key whose value is the word.
    var key: String
    /// The keys that go with each word, and must be there or may; the first word is the usual one.
    var branches: [(word: String, keys: [String], required: [String])]
  }

  /// A key that takes the place of others.
  struct Exclusion: Sendable {
    var key: String
    var others: [String]
  }

  let keys: [ProfileKey]
  let orders: [Order]
  let choice: Choice?
  let exclusion: Exclusion?

  /// Makes the keys of an object.
  init(
    _ keys: [ProfileKey], orders: [Order] = [], choice: Choice? = nil, exclusion: Exclusion? = nil
  ) {
    self.keys = keys
    self.orders = orders
    self.choice = choice
    self.exclusion = exclusion
  }

  /// The key with a name, or nothing.
  func key(named name: String) -> ProfileKey? { keys.first { $0.name == name } }
}
