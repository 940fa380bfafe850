/// Text that a sound file carries about itself.
///
/// No date is ever written, so that equal renderings are equal files.
public struct SoundFileTags: Equatable, Sendable {
  /// What is heard.
  public var title: String
  /// What made the file.
  public var software: String
  /// How it was made.
  public var comment: String

  /// Makes tags; an empty text is left out.
  public init(title: String = "", software: String = "", comment: String = "") {
    self.title = title
    self.software = software
    self.comment = comment
  }
}
