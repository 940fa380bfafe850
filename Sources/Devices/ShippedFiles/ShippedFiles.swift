internal import CShippedFiles

/// The files of a folder that the program carries, so that they are found from anywhere.
@safe package struct ShippedFiles: Sendable {
  /// The profiles, ordered as they are listed.
  package static let profiles = unsafe ShippedFiles(temblor_profiles)
  /// The parts of pages.
  package static let pageParts = unsafe ShippedFiles(temblor_page)
  fileprivate static let patterns = unsafe ShippedFiles(temblor_patterns)

  /// The names of the files, with their endings.
  package let names: [String]
  /// The table in the program, which lasts as long as it runs.
  nonisolated(unsafe) private let table: UnsafePointer<temblor_file>

  private init(_ table: UnsafePointer<temblor_file>) {
    var names: [String] = []
    while let name = unsafe table[names.count].name {
      unsafe names.append(String(cString: name))
    }
    self.names = names
    unsafe self.table = table
  }

  /// The bytes of a file, or nil where none has the name.
  package func bytes(named name: String) -> [UInt8]? {
    guard let index = names.firstIndex(of: name), let text = unsafe table[index].text else {
      return nil
    }
    let size = unsafe Int(table[index].size)
    guard size > 0 else { return unsafe Array(String(cString: text).utf8) }
    return unsafe text.withMemoryRebound(to: UInt8.self, capacity: size) {
      unsafe Array(UnsafeBufferPointer(start: $0, count: size))
    }
  }
}

/// The patterns that come with Temblor.
public enum ShippedPatterns {
  /// Their names, sorted.
  public static let names = ShippedFiles.patterns.names.map { String($0.dropLast(5)) }

  /// The AHAP text of a pattern, or nothing where none has the name.
  public static func text(named name: String) -> [UInt8]? {
    ShippedFiles.patterns.bytes(named: name + ".ahap")
  }
}
