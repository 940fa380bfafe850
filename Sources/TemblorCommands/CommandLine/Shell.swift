/// A shell that can complete the program's command lines.
enum Shell: String, CaseIterable, Sendable {
  case bash
  case zsh
  case fish
}

extension Program {
  /// The script that teaches a shell to complete this program's verbs, options and values.
  func completionScript(for shell: Shell) -> String {
    switch shell {
    case .bash: bashCompletion()
    case .zsh: zshCompletion()
    case .fish: fishCompletion()
    }
  }

  /// The program's name as part of a shell function's.
  var shellName: String { String(name.map { $0.isLetter || $0.isNumber ? $0 : "_" }) }
}

extension String {
  /// The text as one word of a POSIX shell, zsh included.
  var shellQuoted: String {
    "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }

  /// Up to the first full stop: what fits beside a name in a completion list.
  var firstSentence: String {
    let words = split(separator: " ")
    guard let end = words.firstIndex(where: { $0.hasSuffix(".") }) else { return self }
    return String(words[...end].joined(separator: " ").dropLast())
  }

  /// The text with a backslash before each of some characters.
  func escaping(_ characters: Set<Character>) -> String {
    String(flatMap { characters.contains($0) ? ["\\", $0] : [$0] })
  }
}
