internal import SystemSupport

extension SoundFolder {
  /// The path of a file that was probably meant by one that is missing, or nothing.
  ///
  /// Another case, a missing ending, and a folder that does not exist here, as the bundle of an app, are
  /// recognised. Nothing outside the root is looked at.
  public func suggestion(for path: String) -> String? {
    guard !path.hasPrefix("/"), !path.split(separator: "/").contains("..") else { return nil }
    let name = FileSystem.name(of: path).lowercased()
    guard !name.isEmpty else { return nil }
    var folders = [""]
    // The folder itself may be of another case.
    for part in path.split(separator: "/").dropLast() {
      guard let folder = folders.last,
        let found = names(in: folder).first(where: { $0.lowercased() == part.lowercased() })
      else { break }
      folders.append(FileSystem.join(folder, found))
    }
    for folder in folders.reversed() {
      let found = names(in: folder)
      let match =
        found.first { $0.lowercased() == name }
        ?? found.first { FileSystem.stem(of: $0).lowercased() == name && Self.isSound($0) }
      guard let match else { continue }
      let suggested = FileSystem.join(folder, match)
      return suggested == path ? nil : suggested
    }
    return nil
  }

  private static func isSound(_ name: String) -> Bool {
    #if SoundOutput
      SoundFileFormat.container(ofName: name) != nil
    #else
      name.lowercased().hasSuffix(".wav")
    #endif
  }

  private func names(in folder: String) -> [String] {
    let place = FileSystem.join(root, folder)
    return (try? FileSystem.names(in: place.isEmpty ? "." : place)) ?? []
  }
}
