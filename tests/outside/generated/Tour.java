// A tour with the clients that OpenAPI Generator makes for Java. The argument is the name of the animal.

import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import petstore.api.PetsApi;
import petstore.model.NewPet;
import petstore_store.ApiClient;
import petstore_store.ApiException;
import petstore_store.api.*;
import petstore_store.model.*;
import petstore_store.model.Error;

class Tour {
  interface Call {
    void run() throws ApiException;
  }

  static final ObjectMapper json = ApiClient.createDefaultObjectMapper();

  static void printError(String what, Call call) throws Exception {
    try {
      call.run();
    } catch (ApiException exception) {
      var error = json.readValue(exception.getResponseBody(), Error.class);
      System.out.println(what + ": " + error.getStatus() + " " + error.getCode());
    }
  }

  static void check(boolean condition) {
    if (!condition) throw new AssertionError();
  }

  public static void main(String[] arguments) throws Exception {
    var name = arguments[0];
    var url = System.getenv("PETSTORE_URL");
    var key = "Bearer " + System.getenv("PETSTORE_KEY");
    Consumer<HttpRequest.Builder> authorize = request -> request.header("Authorization", key);
    var contract = new petstore.ApiClient();
    contract.updateBaseUri(url);
    contract.setRequestInterceptor(authorize);
    var client = new ApiClient();
    client.updateBaseUri(url);
    client.setRequestInterceptor(authorize);
    var animals = new AnimalsApi(client);
    var orders = new OrdersApi(client);

    var pet = new PetsApi(contract).createPet(new NewPet().name(name).categoryId(1L), null);
    System.out.println("added an animal to the catalogue: it is " + pet.getStatus());
    var found = animals.listStorePets(null, null, name, null, null, null, null, null, null, null, null);
    System.out.println("found it by its name: " + found.size() + " animal");
    var microchip = "276098%09d".formatted(ThreadLocalRandom.current().nextInt(1_000_000_000));
    var input = new StorePetInput().name(name).categoryId(1L)
        .putFieldsItem("species", new FieldValue("Cat"))
        .putFieldsItem("breed", new FieldValue("Siamese"))
        .putFieldsItem("microchip", new FieldValue(microchip));
    var cat = animals.addStorePet(input, null);
    System.out.println("added an animal with values: it is a " + cat.getFields().get("species").getString());
    // This client cannot send the parameter that searches by the microchip.
    // Of a File, it sends the path.
    var upload = HttpRequest.newBuilder(URI.create(url + "/store/pets/" + cat.getId() + "/photos"))
        .header("Authorization", key).header("Content-Type", "image/webp")
        .POST(HttpRequest.BodyPublishers.ofFile(Path.of("photo.webp"))).build();
    check(HttpClient.newHttpClient().send(upload, HttpResponse.BodyHandlers.discarding()).statusCode() == 201);
    var photos = animals.getStorePet(cat.getId(), null).getPhotos();
    System.out.println("added a photo of it: " + photos.size() + " photo");

    var order = new OrderInput().petId(pet.getId()).reference("R-1");
    var id = orders.placeOrder(name + "-1", order).getId();
    check(orders.placeOrder(name + "-1", order).getId().equals(id));
    var placed = orders.getOrder(id, null);
    var days = Duration.between(placed.getCreatedAt(), placed.getExpiresAt()).toDays();
    System.out.println("reserved it: the order is " + placed.getStatus() + ", for " + days + " days");
    printError("reserving it again", () -> orders.placeOrder(name + "-2", order));
    var completed = orders.completeOrder(id, null, null, new Completion());
    check(placed.getClosedAt() == null && !completed.getClosedAt().isBefore(completed.getCreatedAt()));
    System.out.println("completed the order: it is " + completed.getStatus() + ", and has the time of its end");

    var before = animals.getStorePet(pet.getId(), null).getVersion();
    var tag = "\"" + before + "\"";
    var patch = new PetPatch().name(name + " II");
    var changed = animals.patchPet(tag, pet.getId(), patch, null).getVersion();
    System.out.println("changed the name: from version " + before + " to " + changed);
    printError("changing it with the old version", () -> animals.patchPet(tag, pet.getId(), patch, null));

    for (var change : new ChangesApi(client).followChanges("start", null, 1000, null, null)) {
      var subject = change.getSubject().getKind() + ":" + change.getSubject().getId();
      if (subject.equals("pet:" + pet.getId())) {
        var after = json.convertValue(change.getAfter(), StorePet.class);
        System.out.println("change: " + change.getType() + ", " + after.getStatus());
      } else if (subject.equals("order:" + id)) {
        var after = json.convertValue(change.getAfter(), Order.class);
        System.out.println("change: " + change.getType() + ", " + after.getStatus());
      }
    }
    var entries = new AuditApi(client).listAudit("pet:" + pet.getId(), null, null, null, null, null, null, null);
    var actor = entries.get(entries.size() - 1).getActor();
    System.out.println("audit trail: " + entries.size() + " entries about the animal, by the key " + actor.getName());

    var add = new AddPetCommand().command(AddPetCommand.CommandEnum.ADD_PET).name(name + " III").categoryId(1L);
    var back = new ReturnOrderCommand().command(ReturnOrderCommand.CommandEnum.RETURN_ORDER).orderId(id);
    var batch = new BatchApi(client).runBatch(name + "-3", List.of(new Command(add), new Command(back)));
    System.out.println("batch: added an animal that is " + batch.get(0).getStorePet().getStatus()
        + ", and the order is " + batch.get(1).getOrder().getStatus());
  }
}
