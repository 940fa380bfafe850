/// A set of file names for one folder, which are unique even if case is ignored.
package struct UniqueNames {
  private var lowercasedNames: Set<String> = []

  /// Creates an empty set of names.
  package init() {}

  /// Adds a name, with a number from 2 appended if the name already exists. Returns the added name.
  package mutating func addName(_ name: String) -> String {
    var uniqueName = name
    var nameNumber = 2
    while !lowercasedNames.insert(uniqueName.lowercased()).inserted {
      uniqueName = "\(name)-\(nameNumber)"
      nameNumber += 1
    }
    return uniqueName
  }
}
