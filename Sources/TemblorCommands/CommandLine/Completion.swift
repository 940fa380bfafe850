/// What a shell offers where a value or an argument is typed.
struct Completion: Equatable, Sendable {
  /// The names of the file system that are offered.
  enum Paths: Equatable, Sendable {
    case none
    /// Files whose names end in one of these (no dots), and folders on the way; all files when empty.
    case files(endings: [String])
    case folders
  }

  /// Words that are offered as they are.
  var words: [String] = []
  /// Words of this program's command line that print more to offer, one on each line: plain names only.
  var query = ""
  /// Paths that are offered beside the words.
  var paths: Paths = .none

  static let none = Completion()
  static let file = Completion(paths: .files(endings: []))
  static let folder = Completion(paths: .folders)

  /// Offers files with one of these endings, written without the dot.
  static func file(endingIn endings: String...) -> Completion {
    Completion(paths: .files(endings: endings))
  }

  /// Offers a fixed list.
  static func words(_ words: [String]) -> Completion { Completion(words: words) }
}
