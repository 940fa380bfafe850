internal import Glibc

/// Makes damaged inputs for readers: copies of valid inputs with one to four random edits.
public struct InputMutator {
  private var generator: SplitMixGenerator
  private let insertedWords: [[UInt8]]

  /// Creates a mutator, which makes the same edits for the same seed.
  ///
  /// - Parameters:
  ///   - seed: The seed of the random numbers.
  ///   - words: Texts that some of the edits insert.
  public init(seed: UInt64, words: [String] = []) {
    generator = SplitMixGenerator(state: seed)
    insertedWords = words.map { Array($0.utf8) }
  }

  /// Returns the number of cases for a test with random inputs: the value of the environment
  /// variable `TEMBLOR_TEST_CASES`, or a default.
  public static func caseCount(default defaultCount: Int) -> Int {
    guard let text = unsafe getenv("TEMBLOR_TEST_CASES") else { return defaultCount }
    return unsafe Int(String(cString: text)) ?? defaultCount
  }

  /// Returns a damaged copy of an input.
  public mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
    var result = bytes
    for _ in 0...Int.random(in: 0..<4, using: &generator) {
      let index = Int.random(in: 0...result.count, using: &generator)
      let endIndex = min(result.count, index + Int.random(in: 0..<8, using: &generator))
      switch Int.random(in: 0..<6, using: &generator) {
      case 0:
        result.removeSubrange(index..<endIndex)
      case 1:
        result.insert(UInt8.random(in: .min ... .max, using: &generator), at: index)
      case 2 where index < result.count:
        result[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      case 3:
        result.insert(contentsOf: result[index..<endIndex], at: index)
      case 4:
        result.removeSubrange(index...)
      default:
        if let insertedWord = insertedWords.randomElement(using: &generator) {
          result.replaceSubrange(index..<endIndex, with: insertedWord)
        }
      }
    }
    return result
  }

  /// Returns a damaged copy of a text, in which U+FFFD replaces invalid UTF-8.
  public mutating func mutated(_ text: String) -> String {
    String(decoding: mutated(Array(text.utf8)), as: UTF8.self)
  }

  /// Returns whether a message is one line without control or format characters.
  public static func isOneLine(_ message: String) -> Bool {
    !message.isEmpty
      && message.unicodeScalars.allSatisfy { scalar in
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: false
        default: true
        }
      }
  }
}
