# A tour with the clients that OpenAPI Generator makes for Ruby. The argument is the name of the animal.

require "json"
require "uri"
require "petstore"
require "petstore_store"

name = ARGV[0]
url = URI(ENV.fetch("PETSTORE_URL"))
[Petstore, PetstoreStore].each do |client|
  client.configure do |settings|
    settings.scheme = url.scheme
    settings.host = "#{url.host}:#{url.port}"
    settings.base_path = url.path
    settings.server_index = nil
    settings.access_token = ENV.fetch("PETSTORE_KEY")
  end
end
animals, orders = PetstoreStore::AnimalsApi.new, PetstoreStore::OrdersApi.new

def print_error(what)
  yield
rescue PetstoreStore::ApiError => error
  puts "#{what}: #{error.code} #{JSON.parse(error.response_body)["code"]}"
end

pet = Petstore::PetsApi.new.create_pet(Petstore::NewPet.new(name: name, category_id: 1))
puts "added an animal to the catalogue: it is #{pet.status}"
puts "found it by its name: #{animals.list_store_pets(name: name).length} animal"
microchip = format("276098%09d", rand(10**9))
fields = {"species" => "Cat", "breed" => "Siamese", "microchip" => microchip}
cat = animals.add_store_pet(PetstoreStore::StorePetInput.new(name: name, category_id: 1, fields: fields))
puts "added an animal with values: it is a #{cat.fields["species"]}"
found = animals.list_store_pets(field: {"field.microchip" => microchip})
raise "another animal" unless found == [cat]
puts "found it by its microchip: #{found.length} animal"
# Of a File, this client sends the name.
PetstoreStore::PhotosApi.new.add_photo(cat.id, File.binread("photo.webp"))
puts "added a photo of it: #{animals.get_store_pet(cat.id).photos.length} photo"

order = PetstoreStore::OrderInput.new(pet_id: pet.id, reference: "R-1")
placed = orders.place_order("#{name}-1", order)
raise "a second order" unless orders.place_order("#{name}-1", order) == placed
placed = orders.get_order(placed.id)
days = (placed.expires_at - placed.created_at) / 86_400
puts "reserved it: the order is #{placed.status}, for #{days.round} days"
print_error("reserving it again") { orders.place_order("#{name}-2", order) }
completed = orders.complete_order(placed.id)
raise "the time of the end" unless placed.closed_at.nil? && completed.closed_at >= completed.created_at
puts "completed the order: it is #{completed.status}, and has the time of its end"

before = animals.get_store_pet(pet.id)
patch = PetstoreStore::PetPatch.new(name: "#{name} II")
changed = animals.patch_pet("\"#{before.version}\"", pet.id, patch)
puts "changed the name: from version #{before.version} to #{changed.version}"
print_error("changing it with the old version") { animals.patch_pet("\"#{before.version}\"", pet.id, patch) }

PetstoreStore::ChangesApi.new.follow_changes(after: "start", limit: 1000).each do |change|
  next unless [["pet", pet.id], ["order", placed.id]].include?([change.subject.kind, change.subject.id])
  puts "change: #{change.type}, #{change.after[:status]}"
end
entries = PetstoreStore::AuditApi.new.list_audit(subject: "pet:#{pet.id}")
puts "audit trail: #{entries.length} entries about the animal, by the key #{entries.last.actor.name}"

commands = [
  PetstoreStore::AddPetCommand.new(command: "addPet", name: "#{name} III", category_id: 1),
  PetstoreStore::ReturnOrderCommand.new(command: "returnOrder", order_id: placed.id)
]
added, returned = PetstoreStore::BatchApi.new.run_batch("#{name}-3", commands)
puts "batch: added an animal that is #{added[:status]}, and the order is #{returned[:status]}"
